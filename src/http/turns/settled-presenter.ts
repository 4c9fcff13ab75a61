import type { ApiKey } from '../../core/api-key.ts'
import type { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { SettledText } from '../../reply/settled-text.ts'
import type { Turn } from '../../turns/turn.ts'
import { type Feed, joined, type StreamHead } from './event-stream.ts'
import type { Presenter } from './presenter.ts'
import { type BegunTurn, type TurnOutcome, toBegun, visibleOutcome } from './turn-outcome.ts'

/** Event format of a protocol in which sent text is final. Each method returns the text of events, in one or more pieces. */
export interface EventFormat {
  started(begun: BegunTurn): string
  delta(text: string): string
  /** `rest`: the part of the content that was not sent yet; undefined if the content does not begin with what was sent. */
  completed(outcome: TurnOutcome, rest: string | undefined): Iterable<string>
  failed(error: ReparteeError, begun: BegunTurn): string
}

const NO_HEAD: StreamHead = { headers: {}, text: '' }

/** Presents a turn in the format of another vendor. Citation marks are sent only in their final form. */
export class SettledPresenter implements Presenter<TurnOutcome> {
  readonly head: StreamHead
  readonly #format: EventFormat
  readonly #key: ApiKey
  #begun: BegunTurn | undefined
  #text: SettledText | undefined
  #isOver = false

  constructor(format: EventFormat, key: ApiKey, head = NO_HEAD) {
    this.#format = format
    this.#key = key
    this.head = head
  }

  started(turn: Turn | undefined, session: Session, question: Message): string {
    this.#begun = toBegun(turn, session, question)
    return this.#format.started(this.#begun)
  }

  feed(turn: Turn): Feed {
    const text = new SettledText(turn)
    this.#text = text
    return () => {
      const more = this.#isOver ? '' : text.next()
      return more === '' ? undefined : this.#format.delta(more)
    }
  }

  completed(answer: TurnOutcome): Generator<string, void> {
    this.#isOver = true
    const outcome = visibleOutcome(this.#key, answer)
    const { content } = outcome
    return joined(this.#format.completed(outcome, this.#text === undefined ? content : this.#text.rest(content)))
  }

  failed(error: ReparteeError): string {
    this.#isOver = true
    return this.#format.failed(error, this.#begun!)
  }

  *replayed(answer: TurnOutcome): Generator<string, void> {
    yield this.#format.started(visibleOutcome(this.#key, answer))
    yield* this.completed(answer)
  }
}
