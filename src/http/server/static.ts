import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ReparteeError } from '../../core/errors.ts'

/** Output of `scripts/build-web.ts`, next to the source and in the package. */
const ROOT = fileURLToPath(new URL('../../../static/', import.meta.url))

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
}

/** No content from other origins, no inline content, no frames. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

interface File {
  bytes: Buffer
  etag: string
  /** The compressed form. It has its own ETag, because a strong ETag names one sequence of bytes. */
  gzip: { bytes: Buffer; etag: string } | undefined
}

/** Serves the pages and scripts for browsers. They need no key. */
export function staticRoutes(app: FastifyInstance): void {
  const consoleFiles = new Files('console')
  const page = (path: string) => async (_request: FastifyRequest, reply: FastifyReply) => reply.redirect(path, 308)
  // Browsers are redirected to the console. Programs get `route_not_found`.
  app.get('/', async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) throw new ReparteeError('route_not_found', 'There is no such route.')
    return reply.redirect('/console/', 302)
  })
  app.get('/console', page('/console/'))
  app.get('/console/*', async (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    reply.headers({ 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' })
    // The console routes its own pages.
    return consoleFiles.send(request, reply, extname(path) === '' ? 'index.html' : path)
  })
  const docs = new Files('docs')
  app.get('/docs', page('/docs/'))
  app.get('/docs/*', async (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    // Relative links in a page start at its folder.
    const isPage = path === '' || path.endsWith('/')
    if (!isPage && extname(path) === '' && docs.has(`${path}/index.html`)) return reply.redirect(`/docs/${path}/`, 308)
    reply.headers({ 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' })
    return docs.send(request, reply, isPage ? `${path}index.html` : path)
  })
  for (const name of ['llms.txt', 'llms-full.txt']) app.get(`/${name}`, async (request, reply) => docs.send(request, reply, name))
  const widget = new Files('widget')
  app.get('/widget.js', async (request, reply) => {
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    return widget.send(request, reply, 'widget.js')
  })
}

/** The files of one folder. Their names are listed once, because they do not change while the service runs. */
class Files {
  readonly #folder: string
  #names: Set<string> | undefined
  readonly #read = new Map<string, Promise<File>>()

  constructor(name: string) {
    this.#folder = join(ROOT, name)
  }

  has(name: string): boolean {
    this.#names ??= listNames(this.#folder)
    return this.#names.has(name)
  }

  async send(request: FastifyRequest, reply: FastifyReply, name: string): Promise<FastifyReply> {
    if (!this.has(name)) throw new ReparteeError('route_not_found', 'There is no such route.')
    let file = this.#read.get(name)
    if (file === undefined) {
      file = readWhole(join(this.#folder, name), this.has(`${name}.gz`))
      this.#read.set(name, file)
      // If reading fails, for example because too many files are open, the next request reads again.
      file.catch(() => this.#read.delete(name))
    }
    const { gzip, ...plain } = await file
    const isCompressed = gzip !== undefined && /\bgzip\b/.test(String(request.headers['accept-encoding']))
    const { bytes, etag } = isCompressed ? gzip : plain
    reply.headers({ etag, vary: 'Accept-Encoding' })
    // Names of assets contain a hash of their content.
    reply.header('cache-control', name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache')
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    reply.type(TYPES[extname(name)] ?? 'application/octet-stream')
    if (isCompressed) reply.header('content-encoding', 'gzip')
    return reply.send(bytes)
  }
}

function listNames(folder: string): Set<string> {
  if (!existsSync(folder)) return new Set()
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Set(entries.filter((e) => e.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)).replaceAll(sep, '/')))
}

async function readWhole(path: string, isPacked: boolean): Promise<File> {
  const [bytes, gzip] = await Promise.all([readFile(path), isPacked ? readFile(`${path}.gz`) : undefined])
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22)
  return { bytes, etag: `"${hash}"`, gzip: gzip && { bytes: gzip, etag: `"${hash}-gzip"` } }
}
