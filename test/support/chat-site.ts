import { createServer, type Server } from 'node:http'
import { listen } from './cleanup.ts'

const TYPES: Record<string, string> = { js: 'javascript', css: 'css' }

/** The server of somebody's web site, with a policy as strict as they come. It gets tokens for its visitor. */
export class ChatSite {
  /** Its pages, by path. */
  readonly pages: Record<string, string> = {}
  /** All tokens that it gave. */
  readonly tokens: string[] = []
  /** Whose tokens they are, and how long they are good. */
  agent = ''
  ttlSeconds = 3_600
  /** Where it gives no token, the status that it answers with. */
  refusal: number | undefined
  policy = ''
  readonly #server: Server

  /** `newToken` asks the service, with the key of the site. */
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

/** All that the widget needs to be allowed, and nothing more. */
export const policyFor = (service: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' ${service}`,
    `connect-src 'self' ${service}`,
    "style-src 'self'",
    "require-trusted-types-for 'script'",
    'trusted-types repartee',
  ].join('; ')
