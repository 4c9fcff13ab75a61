import type { Contract } from '../api/contract.ts'

/** What stands outside the contract, and what it takes (see `service.ts`, `static.ts`, `surfaces`). `{id}`: one segment; `{rest}` at the end: one or more. */
const OUTSIDE: Record<string, string[]> = {
  '/healthz': ['GET', 'HEAD'],
  '/readyz': ['GET', 'HEAD'],
  '/metrics': ['GET', 'HEAD'],
  '/openapi.json': ['GET', 'HEAD'],
  '/mcp': ['POST'],
  '/mcp/{id}': ['POST'],
  '/openai/v1/models': ['GET', 'HEAD'],
  '/openai/v1/models/{rest}': ['GET', 'HEAD'],
  '/openai/v1/chat/completions': ['POST'],
  '/openai/v1/responses': ['POST'],
  '/openai/v1/responses/{id}': ['GET', 'HEAD'],
  '/openai/v1/conversations': ['POST'],
  '/openai/v1/conversations/{id}': ['GET', 'HEAD', 'DELETE'],
  '/openai/v1/conversations/{id}/items': ['GET', 'HEAD'],
  '/ai-sdk/v1/agents/{id}/chat': ['POST'],
  '/ai-sdk/v1/agents/{id}/chat/{id}/stream': ['GET', 'HEAD'],
  '/console': ['GET', 'HEAD'],
  '/console/{rest}': ['GET', 'HEAD'],
  '/widget.js': ['GET', 'HEAD'],
  '/docs': ['GET', 'HEAD'],
  '/docs/{rest}': ['GET', 'HEAD'],
  '/llms.txt': ['GET', 'HEAD'],
  '/llms-full.txt': ['GET', 'HEAD'],
}
const REST = '{rest}'

interface Path {
  segments: string[]
  methods: string[]
}

/** Finds the methods that a path takes, for 405 answers; undefined where there is no such path. Linear in the path, which may have 16 kB and is of anybody. */
export function methodFinder(contract: Contract): (url: string) => string[] | undefined {
  const byPath = new Map(Object.entries(OUTSIDE))
  for (const { path, method } of Object.values(contract)) {
    const methods = byPath.get(`/v1${path}`) ?? []
    byPath.set(`/v1${path}`, [...methods, method, ...(method === 'GET' ? ['HEAD'] : [])])
  }
  // Fixed segments come first: `sessions/import` is no session.
  const paths = [...byPath]
    .sort(([a], [b]) => a.split('{').length - b.split('{').length)
    .map(([path, methods]): Path => ({ segments: path.split('/'), methods }))
  const most = Math.max(...paths.map(({ segments }) => segments.length))
  return (url) => {
    const asked = url.split('?', 1)[0]!.split('/', most + 1)
    return paths.find(({ segments }) => isOf(segments, asked))?.methods
  }
}

function isOf(segments: readonly string[], asked: readonly string[]): boolean {
  const hasRest = segments.at(-1) === REST
  if (hasRest ? asked.length < segments.length : asked.length !== segments.length) return false
  return segments.every((segment, i) => segment === REST || (segment.startsWith('{') ? asked[i] !== '' : asked[i] === segment))
}
