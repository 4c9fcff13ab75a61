import type { ImportSessionBody, Message } from '../../queries/conversations.ts'

/** A conversation as a file, in the form in which it can be brought in again. */
export const toJson = (name: string, externalUserId: string | undefined, messages: readonly Message[]): string => {
  const body: ImportSessionBody = {
    name,
    ...(externalUserId !== undefined && { externalUserId }),
    messages: messages.map(({ role, content, createdAt }) => ({ role, content, createdAt })),
  }
  return `${JSON.stringify(body, null, 2)}\n`
}

/** A conversation to be read: who said what when. */
export const toMarkdown = (name: string, messages: readonly Message[], who: Record<Message['role'], string>): string => {
  const parts = messages.map(({ role, content, createdAt }) => `## ${who[role]}, ${createdAt}\n\n${content.trim()}`)
  return `${[`# ${name}`, ...parts].join('\n\n')}\n`
}

const ROLES: Record<string, Message['role']> = { user: 'USER', human: 'USER', ai: 'AI', assistant: 'AI' }

interface Loose {
  name?: unknown
  externalUserId?: unknown
  session?: { name?: unknown }
  messages?: unknown
}

/**
 * What a file holds: an export of the console, the answer of `GET …/sessions/{sessionId}`, or a list of messages as models take it, whose
 * roles are called `user` and `assistant`. Undefined where it is none of these; what is wrong in a message the service says.
 */
export function fromJson(text: string): ImportSessionBody | undefined {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return undefined
  }
  const { name, externalUserId, session, messages } = (Array.isArray(read) ? { messages: read } : (read ?? {})) as Loose
  if (!Array.isArray(messages)) return undefined
  const title = [name, session?.name].find((one) => typeof one === 'string')
  return {
    ...(title !== undefined && { name: title }),
    ...(typeof externalUserId === 'string' && { externalUserId }),
    messages: messages
      .filter((message) => (message as { role?: unknown } | null)?.role !== 'system')
      .map((message) => {
        const { role, content, createdAt } = (message ?? {}) as Partial<Message>
        return {
          role: ROLES[String(role).toLowerCase()] ?? (role as Message['role']),
          content: content as string,
          ...(createdAt !== undefined && { createdAt }),
        }
      }),
  }
}
