import type { Contract } from '../api/contract.ts'

/** What stands outside the contract: patterns of paths, and what they take (see `service.ts`, `static.ts`, `surfaces`). */
const OUTSIDE: Record<string, string[]> = {
  '/(healthz|readyz|metrics|openapi\\.json)': ['GET', 'HEAD'],
  '/mcp(/[^/]+)?': ['POST'],
  '/openai/v1/models(/.+)?': ['GET', 'HEAD'],
  '/openai/v1/chat/completions': ['POST'],
  '/openai/v1/(responses|conversations)': ['POST'],
  '/openai/v1/responses/[^/]+': ['GET', 'HEAD'],
  '/openai/v1/conversations/[^/]+': ['GET', 'HEAD', 'DELETE'],
  '/openai/v1/conversations/[^/]+/items': ['GET', 'HEAD'],
  '/ai-sdk/v1/agents/[^/]+/chat': ['POST'],
  '/ai-sdk/v1/agents/[^/]+/chat/[^/]+/stream': ['GET', 'HEAD'],
  '/console(/.*)?|/widget\\.js': ['GET', 'HEAD'],
  '/docs(/.*)?|/llms(-full)?\\.txt': ['GET', 'HEAD'],
}

/** Finds the methods that a path takes, for 405 answers; undefined where there is no such path. */
export function methodFinder(contract: Contract): (url: string) => string[] | undefined {
  const byPath = new Map<string, { pattern: RegExp; methods: string[] }>()
  for (const { path, method } of Object.values(contract)) {
    const pattern = new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`)
    const entry = byPath.get(path) ?? { pattern, methods: [] }
    entry.methods.push(method)
    if (method === 'GET') entry.methods.push('HEAD')
    byPath.set(path, entry)
  }
  for (const [path, methods] of Object.entries(OUTSIDE)) byPath.set(path, { pattern: new RegExp(`^(${path})$`), methods })
  // Fixed segments come first: `sessions/import` is no session.
  const entries = [...byPath].sort(([a], [b]) => a.split('{').length - b.split('{').length).map(([, entry]) => entry)
  return (url) => {
    const path = url.split('?', 1)[0]!
    return entries.find(({ pattern }) => pattern.test(path))?.methods
  }
}
