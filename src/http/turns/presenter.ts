import type { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Feed, LastEvents, StreamHead } from './event-stream.ts'

/** Presents one turn as the events of a protocol. `A` is the answer to a request for the whole reply, which is also what is stored for an Idempotency-Key. */
export interface Presenter<A> {
  readonly head: StreamHead
  /** The first events. `turn`: undefined if it runs nowhere that this process can follow. */
  started(turn: Turn | undefined, session: Session, question: Message): string
  /** Returns what makes the events of the growing text. */
  feed(turn: Turn): Feed
  completed(answer: A): LastEvents
  failed(error: ReparteeError): string
  /** All events of a turn whose answer was stored. */
  replayed(answer: A): LastEvents
}
