import type { Scope } from '../core/api-key.ts'
import type { Static, TObject, TSchema } from './schema.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof methods)[number]

/** One request of the contract, as a value: it routes, validates, types, serialises and documents. */
export interface Operation<
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
> {
  id: string
  method: Method
  /** Below `/v1`, parameters as `{name}`. */
  path: string
  tag: string
  summary: string
  description?: string
  /** One of these is enough; `admin` always is. Empty: any good key. */
  scopes: Scope[]
  params: P
  query: Q
  /** Left out where the request has no body. */
  body?: B
  /** `multipart/form-data` is taken: alone, or next to JSON, which the contract describes then. */
  upload?: 'only' | 'also'
  /** The answer comes as server-sent events: where they are asked for, or always. */
  events?: 'asked' | 'always'
  /** A token of a user may make it, too, about the user's own sessions. */
  forUsers?: boolean
  /** It has a reply made, which costs: an end user may make only so many. */
  isSend?: boolean
  /** An act of those who run the service: it is written down in the audit log. */
  isAudited?: boolean
  /** The answer is JSON Lines, each of them as `response` says. */
  lines?: boolean
  /** Of a POST: its answer holds a secret, so an Idempotency-Key is refused. Answers to other POSTs are kept for replays. */
  keepsNoAnswer?: boolean
  /** Of a POST: it changes nothing, so an Idempotency-Key is ignored. A stored answer would outlive the documents that it quotes. */
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
