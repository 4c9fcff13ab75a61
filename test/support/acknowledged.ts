import type { Client } from './client.ts'
import { readEvents } from './events.ts'
import { type ModelServer, streams } from './model-server.ts'

/** A message and its reply as acknowledged to the sender. */
export interface Sent {
  session: string
  user: { id: string; content: string }
  ai: { id: string; content: string }
}

const replyTo = (content: string) => `reply to ${content}`

/** Streams replies word by word, so that faults can occur in the middle of some. */
export function speakSlowly(model: ModelServer): void {
  model.behaviour = (call, response) =>
    streams(replyTo(call.body.messages.at(-1)!.content).match(/.{1,4}/gs)!, { everyMs: 1 })(call, response)
}

/** Sends a message and resolves to the acknowledged result, if any. */
export async function send(client: Client, session: string, message: string, asEvents: boolean): Promise<Sent | undefined> {
  const path = `${session}/messages`
  if (!asEvents) {
    const { status, body } = await client.post(path, { message })
    return status === 200 ? { session, user: body.userMessage, ai: body.aiMessage } : undefined
  }
  const reader = await readEvents(client, 'POST', path, { body: { message } })
  const { data } = await reader.find('turn.completed')
  return { session, user: data.userMessage, ai: data.aiMessage }
}

/** Returns the differences between a session and its acknowledged messages: lost, duplicated, out of order, or a partial reply. */
export async function faultsOf(client: Client, session: string, acknowledged: Sent[]): Promise<string[]> {
  const { body } = await client.get(session)
  const messages = body.messages as { id: string; role: string; content: string }[]
  const found: string[] = []
  let last = -1
  for (const { user, ai } of acknowledged.filter((sent) => sent.session === session)) {
    const at = messages.findIndex(({ id }) => id === user.id)
    if (messages[at]?.content !== user.content) found.push(`${user.content}: the message is lost`)
    if (messages[at + 1]?.id !== ai.id || messages[at + 1]?.content !== ai.content)
      found.push(`${user.content}: its reply is lost or elsewhere`)
    if (at <= last) found.push(`${user.content}: stands before one that was sent earlier`)
    last = at
  }
  if (new Set(messages.map(({ id }) => id)).size !== messages.length) found.push(`${session}: a message stands there twice`)
  messages.forEach(({ role, content }, i) => {
    if (role === 'AI' && content !== replyTo(messages[i - 1]?.content ?? ''))
      found.push(`${content}: a reply that is half, or without its message`)
  })
  return found
}
