import type { FastifyInstance } from 'fastify'
import { deleteIfAgentIsGone } from '../agents/agents.ts'
import type { Contract } from '../api/contract.ts'
import { sourceNotFound } from '../core/errors.ts'
import { invalidCursor } from '../core/page.ts'
import { pageLimit } from '../core/ports/limits.ts'
import type { Site } from '../core/site.ts'
import { toIso } from '../core/time.ts'
import type { Deps } from './deps.ts'
import { pageUrl } from './route/page-url.ts'
import { toPagination } from './route/pagination.ts'
import { route } from './route/route.ts'

const isoOrNull = (at: number | null) => (at === null ? null : toIso(at))
const toSource = (site: Site) => ({
  ...site,
  syncedAt: isoOrNull(site.syncedAt),
  nextSyncAt: isoOrNull(site.nextSyncAt),
  createdAt: toIso(site.createdAt),
  updatedAt: toIso(site.updatedAt),
})

export function sourceRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  const { knowledge } = deps

  route(app, deps, contract.addSource, async ({ agent, body, key }) => {
    const added = await knowledge.addSite(agent.id, { ...body, url: pageUrl('body.url', body.url) }, key.id)
    await deleteIfAgentIsGone(deps, agent.id)
    return { source: toSource(added) }
  })

  route(app, deps, contract.listSources, async ({ agent, query, key }) => {
    const { limit = pageLimit.default, cursor } = query
    const page = await knowledge.listSites(agent.id, { limit, ...(cursor && { cursor: cursor.toLowerCase() }), askedBy: key.id })
    if (page === undefined) throw invalidCursor('a source')
    return { sources: page.items.map(toSource), pagination: toPagination(page) }
  })

  route(app, deps, contract.getSource, async ({ agent, params, key }) => ({
    source: toSource(found(await knowledge.findSite(agent.id, params.sourceId, key.id))),
  }))

  route(app, deps, contract.refreshSource, async ({ agent, params, key }) => ({
    source: toSource(found(await knowledge.refreshSite(agent.id, params.sourceId, key.id))),
  }))

  route(app, deps, contract.deleteSource, async ({ agent, params }) => {
    if (!(await knowledge.deleteSite(agent.id, params.sourceId))) throw sourceNotFound()
    return { message: 'The source and its documents were removed from the knowledge base.' }
  })
}

function found(site: Site | undefined): Site {
  if (site === undefined) throw sourceNotFound()
  return site
}
