/**
 * The client of Repartee. `new Repartee(…)` gathers every operation. What is to be small takes `connect(…)` and the functions of the
 * nouns that it needs, `sessions.create(connection, …)`, and a bundler leaves out the rest.
 */
export * as agents from './api/agents.ts'
export * as audit from './api/audit.ts'
export type { FileContent, FileOptions } from './api/documents.ts'
export * as documents from './api/documents.ts'
export * as insights from './api/insights.ts'
export * as keys from './api/keys.ts'
export * as messages from './api/messages.ts'
export * as models from './api/models.ts'
export * as sessions from './api/sessions.ts'
export * as sources from './api/sources.ts'
export * as tokens from './api/tokens.ts'
export type { ExportLine } from './api/users.ts'
export * as users from './api/users.ts'
export { type Bound, Repartee } from './client.ts'
export { type Connection, type ConnectionOptions, connect } from './connection.ts'
export type { GetToken } from './credentials.ts'
export { type ErrorCode, ReparteeError } from './errors.ts'
export type { PostOptions, RequestOptions } from './request.ts'
export { answerOf, type TurnEvent, type TurnStream } from './turn.ts'
export type * from './types.ts'
