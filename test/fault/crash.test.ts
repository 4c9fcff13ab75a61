import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { says } from '../support/model-server.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const ROUNDS = 20
const SENDERS = 6

interface Sent {
  session: string
  user: { id: string; content: string }
  ai: { id: string; content: string }
}

let service: Service
before(async () => {
  service = await startService()
  service.model.behaviour = says(({ body }) => `reply to ${body.messages.at(-1)!.content}`)
})
after(() => service.stop())

test('twenty kills during sends: every acknowledged message is there afterwards, once, in order, behind it its own reply', {
  skip: needsProcess,
}, async () => {
  const agent = await service.newAgent()
  const acknowledged: Sent[] = []
  const failures: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const sessions = await Promise.all(Array.from({ length: SENDERS }, () => service.newSession(agent)))
    let killed = false
    const senders = sessions.map(async (session, sender) => {
      for (let n = 0; !killed; n++) {
        const answer = await service.client
          .post(`${session}/messages`, { message: `${round}.${sender}.${n}` })
          .catch(() => undefined)
        if (answer?.status === 200) acknowledged.push({ session, user: answer.body.userMessage, ai: answer.body.aiMessage })
      }
    })
    // So many acknowledged sends, and not a time: a slow machine is killed in the middle as well.
    const target = acknowledged.length + 5 + round
    while (acknowledged.length < target) await new Promise(setImmediate)
    await service.kill()
    killed = true
    await Promise.all(senders)
    await service.restart()
    for (const session of sessions) failures.push(...(await faults(session, acknowledged)))
  }
  assert.deepEqual(failures, [])
  assert.ok(acknowledged.length >= ROUNDS * 5)
})

async function faults(session: string, acknowledged: Sent[]): Promise<string[]> {
  const { body } = await service.client.get(session)
  const messages = body.messages as { id: string; role: string; content: string }[]
  const found: string[] = []
  for (const { user, ai } of acknowledged.filter((sent) => sent.session === session)) {
    const at = messages.findIndex(({ id }) => id === user.id)
    if (messages[at]?.content !== user.content) found.push(`${user.content}: the message is lost`)
    if (messages[at + 1]?.id !== ai.id || messages[at + 1]?.content !== ai.content)
      found.push(`${user.content}: its reply is lost or elsewhere`)
  }
  if (new Set(messages.map(({ id }) => id)).size !== messages.length) found.push(`${session}: a message stands there twice`)
  messages.forEach(({ role, content }, i) => {
    if (role === 'AI' && content !== `reply to ${messages[i - 1]?.content}`) found.push(`${content}: a reply without its message`)
  })
  return found
}
