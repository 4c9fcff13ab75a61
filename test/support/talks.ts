import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isOk } from './assert.ts'
import type { Answer } from './client.ts'
import { openClock } from './clock.ts'
import { until } from './poll.ts'
import { type Service, startService } from './service.ts'

const DAY_MS = 86_400_000
const documents = new URL('../fixtures/answers/', import.meta.url)

/** A service whose agent knows the documentation of a small product, and whose clock can be set back by days. */
export interface Talks {
  service: Service
  agentId: string
  /** Sends messages in a new session, `daysAgo` days ago. Resolves to the session's id and the answers. Later days come first. */
  talk(daysAgo: number, userId: string, messages: string[], more?: { name?: string; include?: string[] }): Promise<Talk>
  rate(talk: Talk, reply: number, rating: 'up' | 'down', comment?: string): Promise<void>
  stop(): Promise<void>
}

export interface Talk {
  id: string
  path: string
  answers: Answer['body'][]
}

/** `ago`: age of the agent and its documents in days. */
export async function startTalks(ago = 60): Promise<Talks> {
  const clock = openClock()
  const goBack = (days: number) => clock.shift(-days * DAY_MS)
  goBack(ago)
  const service = await startService(clock.env)
  const { client } = service
  const agentId = await service.newAgent({ name: 'Lantern', model: 'extractive' })
  for (const filename of readdirSync(documents)) {
    const markdown = readFileSync(new URL(filename, documents), 'utf8')
    assert.equal((await client.post(`/agents/${agentId}/documents`, { markdown })).status, 202)
  }
  const path = `/agents/${agentId}/documents?limit=100`
  await until('all documents are ready', async () =>
    (await client.get(path)).body.documents.every(({ status }: { status: string }) => status === 'ready'),
  )
  goBack(0)

  return {
    service,
    agentId,
    async talk(daysAgo, userId, messages, { name, include = ['sources', 'usage', 'trace'] } = {}) {
      goBack(daysAgo)
      const path = await service.newSession(agentId, { externalUserId: userId, ...(name !== undefined && { name }) })
      const answers: Answer['body'][] = []
      for (const message of messages) {
        const sent = await client.post(`${path}/messages`, { message, include })
        answers.push(sent.body)
      }
      goBack(0)
      return { id: path.split('/').at(-1)!, path, answers }
    },
    async rate({ path, answers }, reply, rating, comment) {
      const body = { rating, ...(comment !== undefined && { comment }) }
      isOk(await client.put(`${path}/messages/${answers[reply].aiMessage.id}/feedback`, body))
    },
    async stop() {
      await service.stop()
      clock.close()
    },
  }
}
