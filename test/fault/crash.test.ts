import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { repartee } from '../cli/repartee.ts'
import { readEvents } from '../support/events.ts'
import { streams } from '../support/model-server.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** More for a long run: `CRASH_ROUNDS=200 node --test test/fault/crash.test.ts`. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 20)
/** Every other one asks for events. */
const SENDERS = 8

interface Sent {
  session: string
  user: { id: string; content: string }
  ai: { id: string; content: string }
}

let service: Service
before(async () => {
  service = await startService()
  // Word by word, so that kills fall into the middle of replies.
  service.model.behaviour = (call, response) =>
    streams(replyTo(call.body.messages.at(-1)!.content).match(/.{1,4}/gs)!, { everyMs: 1 })(call, response)
})
after(() => service.stop())

const replyTo = (content: string) => `reply to ${content}`

/** Sends a message, and resolves to what was acknowledged of it. */
async function send(session: string, message: string, asEvents: boolean): Promise<Omit<Sent, 'session'> | undefined> {
  const path = `${session}/messages`
  if (!asEvents) {
    const { status, body } = await service.client.post(path, { message })
    return status === 200 ? { user: body.userMessage, ai: body.aiMessage } : undefined
  }
  const reader = await readEvents(service.client, 'POST', path, { body: { message } })
  const { data } = await reader.find('turn.completed')
  return { user: data.userMessage, ai: data.aiMessage }
}

test('kills during sends, streamed and plain: every acknowledged message is there afterwards, once, in order, behind it its own reply', {
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
        const sent = await send(session, `${round}.${sender}.${n}`, sender % 2 === 1).catch(() => undefined)
        if (sent !== undefined) acknowledged.push({ session, ...sent })
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
  const place = service.database === undefined ? { REPARTEE_DATA: service.data } : { REPARTEE_DATABASE_URL: service.database }
  const { code, stdout, stderr } = await repartee(['check'], place)
  assert.equal(code, 0, stdout + stderr)
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
    if (role === 'AI' && content !== replyTo(messages[i - 1]?.content ?? ''))
      found.push(`${content}: a reply that is half, or without its message`)
  })
  return found
}
