// An agent that keeps its conversations for so many days only: those without activity since then go, by themselves and for good.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
after(() => service.stop())
const { client } = service
const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

describe('retention', { skip: needsProcess }, () => {
  test('what had no activity for so many days is deleted, and nothing else', async () => {
    const agent = await service.newAgent({ retentionDays: 30 })
    const keeper = await service.newAgent()
    const bring = async (id: string, days: number, text = 'words') => {
      const messages = [
        { role: 'USER', content: text, createdAt: ago(days + 10) },
        { role: 'AI', content: text, createdAt: ago(days) },
      ]
      const answer = await client.post(`/agents/${id}/sessions/import`, { messages })
      isOk(answer, 201)
      return `/agents/${id}/sessions/${answer.body.session.id}`
    }
    const mark = 'xylophonic zeppelins'
    const old = await Promise.all(Array.from({ length: 120 }, (_, i) => bring(agent, 31 + i, mark)))
    const young = await bring(agent, 29)
    const others = await bring(keeper, 400)
    await service.end('SIGTERM')
    await service.restart()
    await until('the old sessions are gone', async () => {
      const { pagination } = (await client.get(`/agents/${agent}/sessions?limit=1`)).body
      return pagination.total === 1
    })
    for (const session of [old[0]!, old[119]!]) isError(await client.get(session), 404, 'session_not_found')
    isOk(await client.get(young))
    isOk(await client.get(others))
    if (service.database !== undefined) return
    await until('no trace is left in the files', () =>
      readdirSync(service.data)
        .filter((name) => name.startsWith('repartee.db'))
        .every((name) => !readFileSync(join(service.data, name)).includes(mark)),
    )
  })
})
