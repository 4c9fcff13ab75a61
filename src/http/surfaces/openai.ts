import type { FastifyInstance } from 'fastify'
import { type ErrorCode, ReparteeError } from '../../core/errors.ts'
import type { Deps } from '../deps.ts'
import { statusOf, toReparteeError } from '../route/errors.ts'
import { setErrorHeaders } from '../route/send-error.ts'
import type { EventStreams } from '../turns/event-stream.ts'
import { chatCompletionRoutes } from './chat-completions.ts'
import { conversationRoutes } from './conversations.ts'
import { toOpenAiError } from './openai-errors.ts'
import { modelRoutes } from './openai-models.ts'
import { responseRoutes } from './responses.ts'

/** The OpenAI packages retry every 429, 502 and 504. A budget stays used up, and model calls have already been retried here. */
const NOT_RETRIED = new Set<ErrorCode>(['quota_exceeded', 'model_failed', 'model_timeout'])

/** Registers OpenAI's API at `/openai/v1`, in which an agent is a model. */
export function openAiRoutes(app: FastifyInstance, deps: Deps, streams: EventStreams): void {
  app.setErrorHandler((thrown, request, reply) => {
    const error = toReparteeError(thrown)
    app.logFailure(request, error)
    setErrorHeaders(reply, error)
    if (NOT_RETRIED.has(error.code)) reply.header('x-should-retry', 'false')
    reply
      .code(statusOf[error.code])
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ error: toOpenAiError(error) }))
  })
  // Errors for unknown routes have the same format.
  app.setNotFoundHandler(() => {
    throw new ReparteeError('route_not_found', 'There is no such route.')
  })
  modelRoutes(app, deps)
  chatCompletionRoutes(app, deps, streams)
  responseRoutes(app, deps, streams)
  conversationRoutes(app, deps)
}
