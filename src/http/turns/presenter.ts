import type { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Feed, LastEvents, StreamHead } from './event-stream.ts'

/** Presents a turn as the events of a protocol. `A`: the answer to a request for the whole reply, also stored for an Idempotency-Key. */
export interface Presenter<A> {
  readonly head: StreamHead
  /** Returns the first events. `turn`: undefined if this process cannot follow it. */
  started(turn: Turn | undefined, session: Session, question: Message): string
  /** Returns a feed of the events of the growing text. */
  feed(turn: Turn): Feed
  completed(answer: A): LastEvents
  failed(error: ReparteeError): string
  /** Returns all events of a turn whose answer was stored. */
  replayed(answer: A): LastEvents
}
