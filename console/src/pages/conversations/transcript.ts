import type { ImportedConversation, Message } from '../../queries/conversations.ts'

/** Exports a conversation as JSON that can be imported again. */
export const toJson = (name: string, externalUserId: string | undefined, messages: readonly Message[]): string => {
  const body: ImportedConversation = {
    name,
    ...(externalUserId !== undefined && { externalUserId }),
    messages: messages.map(({ role, content, createdAt }) => ({ role, content, createdAt })),
  }
  return `${JSON.stringify(body, null, 2)}\n`
}

/** Exports a conversation as Markdown, with the author and the time of each message. */
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
 * Parses a console export, a response of `GET …/sessions/{sessionId}`, or a list of messages with the roles `user` and `assistant`. Returns undefined for
 * anything else. The service validates the messages.
 */
export function fromJson(text: string): ImportedConversation | undefined {
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
