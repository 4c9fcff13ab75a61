import type { Scope } from '../core/api-key.ts'
import type { Static, TObject, TSchema } from './schema.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof methods)[number]

/** An operation of the API. Its definition is used for routing, validation, types, serialisation and documentation. */
export interface Operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
> {
  id: string
  method: Method
  /** Relative to `/v1`, with parameters as `{name}`. */
  path: string
  tag: string
  summary: string
  description?: string
  /** One of these suffices; `admin` always does. Empty: any valid key. */
  scopes: Scope[]
  params: P
  query: Q
  /** Absent if the request has no body. */
  body?: B
  /** Accepts `multipart/form-data`: only that, or in addition to JSON, which the contract then describes. */
  upload?: 'only' | 'also'
  /** Responds with server-sent events: on request, or always. */
  events?: 'asked' | 'always'
  /** Also allowed with a user token, for the user's own sessions. */
  forUsers?: boolean
  /** Generates a reply, which costs money, so the send rate of end users applies. */
  isSend?: boolean
  /** An administrative operation, which is recorded in the audit log. */
  isAudited?: boolean
  /** The response is JSON Lines, each with the schema `response`. */
  lines?: boolean
  /** For a POST whose response contains a secret: an Idempotency-Key is rejected. Responses to other POSTs are stored for idempotency. */
  keepsNoAnswer?: boolean
  /** For a POST that changes nothing: an Idempotency-Key is ignored. A stored response would outlive the documents that it quotes. */
  isReadOnly?: boolean
  status: 200 | 201 | 202
  response: R
}

export const operation = <P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema>(o: Operation<P, Q, B, R>) =>
  o

export type ParamsOf<O> = O extends Operation<infer P, TObject, TSchema, TSchema> ? Static<P> : never
export type QueryOf<O> = O extends Operation<TObject, infer Q, TSchema, TSchema> ? Static<Q> : never
export type BodyOf<O> = O extends Operation<TObject, TObject, infer B, TSchema> ? Static<B> : never
export type ResponseOf<O> = O extends Operation<TObject, TObject, TSchema, infer R> ? Static<R> : never
