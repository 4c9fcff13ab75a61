import { Type } from 'typebox'
import type { Limits } from '../core/limits.ts'
import { replyFormats, roles } from '../core/message.ts'
import { closed, FilledText, Limit, Pagination, SessionPath, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'

export const Role = Type.Enum([...roles], { description: 'Who wrote the message.' })

const id = Uuid('Message ID; also the cursor of message history.')
const content = Type.String({ description: 'Message text.' })
const createdAt = Timestamp('When it was written.')

export const extras = ['sources', 'usage', 'trace'] as const
export type Extra = (typeof extras)[number]

const Source = Type.Object({
  index: Type.Integer({ description: 'The n of the mark [n] in the reply.' }),
  documentId: Uuid('The document.'),
  title: Type.String(),
  url: Type.Union([Type.String(), Type.Null()]),
  snippet: Type.String({ description: 'Verbatim text of the passage that supports the reply.' }),
  score: Type.Number({ description: 'Compares within one answer only.' }),
})
const Usage = Type.Object({
  tokensIn: Type.Integer(),
  tokensOut: Type.Integer(),
  tokensCached: Type.Integer(),
  cost: Type.Union([Type.Number(), Type.Null()], { description: 'In US dollars, where the price is known.' }),
})
const Trace = Type.Object({
  grounding: Type.Object({
    answered: Type.Boolean({ description: 'False: the reply says that the knowledge base does not hold the answer.' }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  query: Type.String({ description: 'The query as searched.' }),
  passages: Type.Array(
    Type.Object({
      documentId: Uuid('The document.'),
      passageId: Uuid('The passage.'),
      title: Type.String(),
      score: Type.Number(),
      scores: Type.Record(Type.String(), Type.Number(), { description: 'The score by method.' }),
    }),
  ),
  timings: Type.Array(Type.Object({ step: Type.String(), ms: Type.Number() })),
})

/** The two requests about messages (specification 4.6 and 4.7). */
export const messageOperations = (limits: Limits) => ({
  sendMessage: operation({
    id: 'sendMessage',
    method: 'POST',
    path: '/agents/{agentId}/sessions/{sessionId}/messages',
    tag: 'Messages',
    summary: 'Send a message and get the reply',
    description:
      'The message is stored before the model is asked: when the model fails (502, 504) it stays, and sending the same text again continues it.',
    scopes: ['chat'],
    params: SessionPath,
    query: Type.Object({}, closed),
    body: Type.Object(
      {
        message: FilledText(limits.maxMessageChars, "The user's message."),
        additionalContext: Type.Optional(
          Type.String({
            maxLength: limits.maxContextChars,
            description: 'For example the content of the page that the user is on.',
          }),
        ),
        format: Type.Optional(Type.Enum([...replyFormats], { default: 'markdown', description: 'Format of the reply.' })),
        include: Type.Optional(
          Type.Array(Type.Enum([...extras]), { maxItems: 10, description: 'Further fields wanted in the answer.' }),
        ),
      },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      chatSession: Type.Object({ id: Uuid('Session ID.'), name: Type.String() }),
      userMessage: Type.Object({ id, role: Role, content, createdAt }),
      aiMessage: Type.Object({
        id,
        role: Role,
        content,
        model: Type.String({ description: 'The model that replied.' }),
        createdAt,
      }),
      followUps: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), text: Type.String(), confidence: Type.Number({ minimum: 0, maximum: 1 }) }), {
          description: 'Present when the agent has them enabled.',
        }),
      ),
      sources: Type.Optional(Type.Array(Source)),
      usage: Type.Optional(Usage),
      trace: Type.Optional(Trace),
    }),
  }),
  listMessages: operation({
    id: 'listMessages',
    method: 'GET',
    path: '/agents/{agentId}/sessions/{sessionId}/messages',
    tag: 'Messages',
    summary: 'Read the message history, page by page',
    scopes: ['chat', 'read'],
    params: SessionPath,
    query: Type.Object(
      { cursor: Type.Optional(Uuid('ID of the message after which the page starts.')), limit: Type.Optional(Limit) },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      messages: Type.Array(Type.Object({ id, role: Role, content, type: Type.Literal('TEXT'), createdAt })),
      pagination: Pagination,
    }),
  }),
})
