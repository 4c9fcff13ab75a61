import { createServer, type Server } from 'node:http'
import { listen } from './cleanup.ts'

const TYPES: Record<string, string> = { js: 'javascript', css: 'css' }

/** A customer's web site with a strict Content-Security-Policy. It requests tokens for its visitor. */
export class ChatSite {
  /** Pages by path. */
  readonly pages: Record<string, string> = {}
  /** All tokens that the site has issued. */
  readonly tokens: string[] = []
  /** The agent of the tokens, and their lifetime in seconds. */
  agent = ''
  ttlSeconds = 3_600
  /** If set, the site issues no token and responds with this status. */
  refusal: number | undefined
  policy = ''
  readonly #server: Server

  /** `newToken` requests a token from the service with the site's key. */
  constructor(newToken: (agentId: string, ttlSeconds: number) => Promise<{ token: string; expiresAt: string }>) {
    this.#server = createServer(async ({ url = '/' }, response) => {
      const path = url.split('?', 1)[0]!
      const html = this.pages[path]
      if (path === '/chat-token' && this.refusal === undefined) {
        const { token, expiresAt } = await newToken(this.agent, this.ttlSeconds)
        this.tokens.push(token)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token, expiresAt }))
      } else if (html === undefined) response.writeHead(this.refusal ?? 404).end()
      else {
        const type = `text/${TYPES[path.split('.')[1] ?? ''] ?? 'html'}; charset=utf-8`
        const policy = path.startsWith('/open') ? {} : { 'content-security-policy': this.policy }
        response.writeHead(200, { 'content-type': type, ...policy }).end(html)
      }
    })
  }

  async listen(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** Returns the minimal policy that the widget needs. */
export const policyFor = (service: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${service}`,
    `connect-src 'self' ${service}`,
    "style-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types repartee',
  ].join('; ')
