import type { ModelListing } from '../core/ports/model.ts'
import { headersOf, type Protocol, type Provider } from './provider.ts'
import { below, readJson, send } from './transport/http.ts'
import { vendors } from './vendors.ts'

const WITHIN_MS = 3_000

/** The path of each protocol's model list, and the ids in its answer. */
const lists: Record<
  Protocol,
  { path: string; headers?: Record<string, string>; idsIn: (answer: Answer) => unknown[] | undefined }
> = {
  chat: { path: '/models', idsIn: ({ data }) => data?.map(({ id }) => id) },
  responses: { path: '/models', idsIn: ({ data }) => data?.map(({ id }) => id) },
  anthropic: {
    path: '/models?limit=1000',
    headers: { 'anthropic-version': '2023-06-01' },
    idsIn: ({ data }) => data?.map(({ id }) => id),
  },
  google: {
    path: '/models?pageSize=1000',
    idsIn: ({ models }) => models?.map(({ name }) => String(name).replace(/^models\//, '')),
  },
  ollama: { path: '/api/tags', idsIn: ({ models }) => models?.map(({ name }) => String(name).replace(/:latest$/, '')) },
}

interface Answer {
  data?: { id: unknown }[]
  models?: { name: unknown }[]
}

/** Some providers list hundreds of models with many fields each. */
const MOST_VALUES = 100_000

/** Resolves to the models that a provider lists. Empty if it fails or is too slow: a list is no reason to fail. */
export async function listModels(provider: Provider): Promise<ModelListing[]> {
  const { protocol, baseUrl, name } = provider
  const { path, headers, idsIn } = lists[protocol]
  const signal = AbortSignal.timeout(WITHIN_MS)
  try {
    const [pathname, query = ''] = path.split('?') as [string, string?]
    const url = below(protocol === 'anthropic' ? vendors.anthropic.toBaseUrl(baseUrl) : baseUrl, pathname)
    for (const [key, value] of new URLSearchParams(query)) url.searchParams.set(key, value)
    const response = await send(url, { headers: { ...headers, ...headersOf(provider) }, signal })
    const ids = idsIn((await readJson(response, signal, { mostValues: MOST_VALUES })) as Answer) ?? []
    return ids.filter((id) => typeof id === 'string').map((id) => toListing(name, id))
  } catch {
    return []
  }
}

export const toListing = (provider: string, id: string): ModelListing => ({
  id: `${provider}/${id}`,
  provider,
  kind: /embed/i.test(id) ? 'embedding' : 'chat',
})
