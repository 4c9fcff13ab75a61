import { extras, replyFormats, roles, turnStates } from '../core/message.ts'
import type { Limits } from '../core/ports/limits.ts'
import { closed, FilledText, Limit, Nothing, Pagination, SessionPath, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

export const Role = Type.Enum([...roles], { description: 'Who wrote the message.' })

const id = Uuid('Message ID; also the cursor of message history.')
const content = Type.String({ description: 'Message text.' })
const model = Type.String({
  description: 'The model that replied, as agents and `/models` name it: `provider/name`, or `extractive`.',
})
const createdAt = Timestamp('When it was written.')

export const Source = Type.Object({
  index: Type.Integer({ description: 'The n of the mark [n] in the reply.' }),
  documentId: Uuid('The document.'),
  title: Type.String(),
  url: Type.Union([Type.String(), Type.Null()]),
  page: Type.Optional(Type.Integer({ description: 'From 1; of a document that has pages.' })),
  snippet: Type.String({ description: 'Verbatim text of the passage that supports the reply.' }),
  score: Type.Number({ description: 'Compares within one answer only.' }),
})
const Usage = Type.Object({
  tokensIn: Type.Integer(),
  tokensOut: Type.Integer(),
  tokensCached: Type.Integer(),
  cost: Type.Union([Type.Number(), Type.Null()], { description: 'In US dollars, where the price is known.' }),
})
export const Trace = Type.Object({
  grounding: Type.Object({
    answered: Type.Boolean({
      description:
        'False: the reply says that the knowledge base does not hold the answer; or, where a language model wrote it, cites nothing of it.',
    }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  query: Type.String({ description: 'The query as searched.' }),
  retrieval: Type.Optional(
    Type.Object(
      { mode: Type.Enum(['lexical', 'hybrid']), reason: Type.Optional(Type.String()), reranked: Type.Optional(Type.Boolean()) },
      { description: 'Of an agent that searches by meaning, or reranks: whether it did, and why not.' },
    ),
  ),
  passages: Type.Array(
    Type.Object({
      documentId: Uuid('The document.'),
      passageId: Uuid('The passage.'),
      title: Type.String(),
      score: Type.Number(),
      scores: Type.Record(Type.String(), Type.Number(), { description: 'The score by method.' }),
    }),
  ),
  citations: Type.Object(
    { supported: Type.Integer(), unsupported: Type.Integer(), unchecked: Type.Integer() },
    { description: 'Marks of the model by what their passage says; those without support were removed from the reply.' },
  ),
  attempts: Type.Array(
    Type.Object({
      model: Type.String(),
      outcome: Type.Enum(['replied', 'failed', 'timed out', 'stopped']),
      ms: Type.Integer(),
    }),
    { description: 'The calls of models that were made for the reply.' },
  ),
  finish: Type.Enum(['stop', 'length', 'filtered', 'cancelled'], { description: 'Why the reply ended.' }),
  timings: Type.Array(Type.Object({ step: Type.String(), ms: Type.Number() })),
})
const FollowUps = Type.Array(
  Type.Object({ id: Type.String(), text: Type.String(), confidence: Type.Number({ minimum: 0, maximum: 1 }) }),
)
export const Answer = Type.Object({
  success: Success,
  chatSession: Type.Object({ id: Uuid('Session ID.'), name: Type.String() }),
  userMessage: Type.Object({ id, role: Role, content, createdAt }),
  aiMessage: Type.Object({
    id,
    role: Role,
    content,
    model,
    createdAt,
  }),
  followUps: Type.Optional(Type.Array(FollowUps.items, { description: 'Present when the agent has them enabled.' })),
  sources: Type.Optional(Type.Array(Source)),
  usage: Type.Optional(Usage),
  trace: Type.Optional(Trace),
})

const Rating = Type.Enum(['up', 'down'])
const Feedback = Type.Object({ rating: Rating, comment: Type.Optional(Type.String()) })
const OneMessage = Type.Object({
  id,
  role: Role,
  content,
  type: Type.Literal('TEXT'),
  createdAt,
  turn: Type.Enum([...turnStates], { description: 'What became of the turn that the message belongs to.' }),
  format: Type.Optional(Type.Enum([...replyFormats], { description: 'Format of `content`, of a reply.' })),
  followUps: Type.Optional(FollowUps),
  sources: Type.Optional(Type.Array(Source)),
  feedback: Type.Optional(Feedback),
  model: Type.Optional(model),
  usage: Type.Optional(Usage),
  trace: Type.Optional(Trace),
})
const MessagePath = Type.Object(
  { agentId: Uuid('The agent.'), sessionId: Uuid('The session.'), messageId: Uuid('The message.') },
  closed,
)
export const EVENTS = `With \`Accept: text/event-stream\` the answer comes as events: \`turn.started\` (chatSession, userMessage), \`message.delta\` (text, Markdown, provisional),
then \`turn.completed\` (the whole ordinary answer) or \`turn.failed\` (error).`

/** The options of a send request. */
export const wishes = (limits: Limits) => ({
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
})

/** A conversation that the caller stores. */
export const GivenHistory = (limits: Limits) =>
  Type.Array(Type.Object({ role: Role, content: Type.String({ maxLength: limits.maxMessageChars }) }, closed), {
    maxItems: 100,
    description: 'Earlier messages, oldest first.',
  })

const MESSAGES = '/agents/{agentId}/sessions/{sessionId}/messages'
const MESSAGE = `${MESSAGES}/{messageId}`

/** The operations on messages (specification 4.6 and 4.7), and on a single message. */
export const messageOperations = (limits: Limits) => ({
  sendMessage: operation({
    id: 'sendMessage',
    forUsers: true,
    isSend: true,
    method: 'POST',
    path: MESSAGES,
    tag: 'Messages',
    summary: 'Send a message and get the reply',
    description: `The message is stored before the model is asked: when the model fails (502, 504) it stays, and the same text, sent as the next message, continues it.
${EVENTS}`,
    scopes: ['chat'],
    params: SessionPath,
    query: Nothing,
    body: Type.Object({ message: FilledText(limits.maxMessageChars, "The user's message."), ...wishes(limits) }, closed),
    events: 'asked',
    status: 200,
    response: Answer,
  }),
  listMessages: operation({
    id: 'listMessages',
    forUsers: true,
    method: 'GET',
    path: MESSAGES,
    tag: 'Messages',
    summary: 'Read the message history, page by page',
    scopes: ['chat', 'read'],
    params: SessionPath,
    query: Type.Object(
      {
        cursor: Type.Optional(Uuid('ID of the message behind which the page starts.')),
        limit: Type.Optional(Limit),
        order: Type.Optional(
          Type.Enum(['asc', 'desc'], { default: 'asc', description: '`desc`: from the newest message back to the oldest.' }),
        ),
      },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      messages: Type.Array(Type.Object({ id, role: Role, content, type: Type.Literal('TEXT'), createdAt })),
      pagination: Pagination,
    }),
  }),
  getMessage: operation({
    id: 'getMessage',
    forUsers: true,
    method: 'GET',
    path: MESSAGE,
    tag: 'Messages',
    summary: 'Read one message, and what became of its turn',
    scopes: ['chat', 'read'],
    params: MessagePath,
    query: Type.Object(
      {
        include: Type.Optional(
          Type.String({
            pattern: '^(model|usage|trace)(,(model|usage|trace))*$',
            description:
              'Further fields wanted of a reply, with commas between: `model`, `usage`, `trace`, as far as they were kept.',
          }),
        ),
      },
      closed,
    ),
    status: 200,
    response: Type.Object({ success: Success, message: OneMessage }),
  }),
  streamMessage: operation({
    id: 'streamMessage',
    forUsers: true,
    method: 'GET',
    path: `${MESSAGE}/stream`,
    tag: 'Messages',
    summary: 'Take up the event stream of a turn',
    description:
      'Named by the message of the user. `Last-Event-ID` says what was seen of it already; once the turn has ended the answer is its last event, or 204 where that was seen.',
    scopes: ['chat', 'read'],
    params: MessagePath,
    query: Nothing,
    events: 'always',
    status: 200,
    response: Answer,
  }),
  cancelMessage: operation({
    id: 'cancelMessage',
    forUsers: true,
    method: 'POST',
    path: `${MESSAGE}/cancel`,
    tag: 'Messages',
    summary: 'Stop the turn that answers a message of the user',
    description: 'What was generated so far becomes the reply. A turn that has ended stays as it is.',
    scopes: ['chat'],
    params: MessagePath,
    query: Nothing,
    body: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: OneMessage }),
  }),
  setFeedback: operation({
    id: 'setFeedback',
    forUsers: true,
    method: 'PUT',
    path: `${MESSAGE}/feedback`,
    tag: 'Messages',
    summary: 'Say whether a reply was good',
    scopes: ['chat'],
    params: MessagePath,
    query: Nothing,
    body: Type.Object({ rating: Rating, comment: Type.Optional(Type.String({ maxLength: limits.maxMessageChars })) }, closed),
    status: 200,
    response: Type.Object({ success: Success, feedback: Feedback }),
  }),
  deleteFeedback: operation({
    id: 'deleteFeedback',
    forUsers: true,
    method: 'DELETE',
    path: `${MESSAGE}/feedback`,
    tag: 'Messages',
    summary: 'Take back what was said of a reply',
    scopes: ['chat'],
    params: MessagePath,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: Type.String() }),
  }),
  regenerateMessage: operation({
    id: 'regenerateMessage',
    forUsers: true,
    isSend: true,
    method: 'POST',
    path: `${MESSAGE}/regenerate`,
    tag: 'Messages',
    summary: "Make the session's last reply anew",
    description: `Its id and place stay; what it said before becomes a version. Where it fails, the reply stays as it was.
${EVENTS}`,
    scopes: ['chat'],
    params: MessagePath,
    query: Nothing,
    body: Type.Object(wishes(limits), closed),
    events: 'asked',
    status: 200,
    response: Answer,
  }),
  listVersions: operation({
    id: 'listVersions',
    forUsers: true,
    method: 'GET',
    path: `${MESSAGE}/versions`,
    tag: 'Messages',
    summary: 'List what a reply said before it was made anew, oldest first',
    scopes: ['chat', 'read'],
    params: MessagePath,
    query: Nothing,
    status: 200,
    response: Type.Object({
      success: Success,
      versions: Type.Array(
        Type.Object({
          content,
          model: Type.Union([model, Type.Null()]),
          createdAt,
          replacedAt: Timestamp('When the next one took its place.'),
          feedback: Type.Optional(Feedback),
        }),
      ),
    }),
  }),
})
