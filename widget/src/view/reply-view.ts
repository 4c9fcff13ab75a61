import type { Reply } from '../chat/entries.ts'
import { wordsFor } from '../labels/errors.ts'
import type { Labels } from '../labels/labels.ts'
import { h, icon, iconButton } from './dom.ts'
import { GrowingText } from './growing-text.ts'
import { safeHtml } from './safe-html.ts'
import { sourceList } from './source-list.ts'

export interface ReplyActions {
  ask(question: string): void
  retry(reply: Reply): void
  rate(reply: Reply, rating: 'up' | 'down'): void
  /** Announces a text to screen readers. */
  say(text: string): void
}

/** A reply as displayed: growing text, then the complete reply with its sources and buttons. */
export class ReplyView {
  readonly element: HTMLElement
  readonly #reply: Reply
  readonly #labels: Labels
  readonly #actions: ReplyActions
  readonly #body = h('div', { class: 'body', dir: 'auto' })
  readonly #text = new GrowingText(this.#body)
  readonly #after = h('div', { class: 'after' })
  /** A reply from the history. It is not announced when its sources arrive. */
  readonly #isOld: boolean
  #shown = ''
  #thumbs: HTMLElement[] = []

  constructor(reply: Reply, labels: Labels, actions: ReplyActions) {
    this.#reply = reply
    this.#isOld = reply.isBare === true
    this.#labels = labels
    this.#actions = actions
    this.element = h('div', { class: 'reply' }, h('span', { class: 'unseen' }, labels.agent), this.#body, this.#after)
    this.update()
  }

  /** Shows the changes of the reply and nothing else, so that readers and the focus are not disturbed. */
  update(): void {
    const { state, text, content, format, sources, followUps, rating } = this.#reply
    const isGrowing = state === 'waiting' || state === 'writing'
    this.element.dataset.state = state
    // Screen readers announce the complete reply once, not piece by piece.
    this.element.ariaLive = isGrowing || this.#isOld ? 'off' : null
    if (isGrowing) this.#grow(text)
    const shown = isGrowing ? '' : JSON.stringify([state, content, format, sources, followUps])
    if (shown !== this.#shown && !isGrowing) this.#showWhole()
    this.#shown = shown
    for (const [i, button] of this.#thumbs.entries()) button.ariaPressed = String(rating === (i === 0 ? 'up' : 'down'))
  }

  #grow(text: string): void {
    this.#after.replaceChildren()
    if (text === '') this.#body.replaceChildren(h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')))
    else this.#text.show(text)
  }

  #showWhole(): void {
    const { state, text, content, format, sources } = this.#reply
    const list = sources.length > 0 ? sourceList(sources, this.#labels) : undefined
    const isWhole = content !== undefined
    // Inserts the text again, because screen readers announce only inserted content.
    this.#body.replaceChildren(...(isWhole ? [safeHtml(content, format, list?.toMark)] : []))
    if (!isWhole && text !== '') this.#text.show(text)
    const parts = [
      state === 'stopped' && h('p', { class: 'note' }, this.#labels.stopped),
      state === 'failed' && this.#failure(),
      list?.element,
      isWhole && this.#tools(),
      this.#followUps(),
    ]
    this.#after.replaceChildren(...parts.filter((part) => part instanceof Node))
  }

  #failure(): HTMLElement {
    const { error } = this.#reply
    const retry = () => this.#actions.retry(this.#reply)
    return h(
      'div',
      { class: 'failure', role: 'alert' },
      h('p', {}, error === undefined ? this.#labels.failed : wordsFor(error, this.#labels)),
      h('button', { type: 'button', class: 'retry', click: retry }, icon('retry'), this.#labels.retry),
    )
  }

  #tools(): HTMLElement {
    const { good, bad, copy, copied, thanks } = this.#labels
    const rate = (rating: 'up' | 'down') => () => {
      this.#actions.rate(this.#reply, rating)
      this.#actions.say(thanks)
    }
    this.#thumbs = [
      iconButton('thumb', good, rate('up'), { class: 'icon', 'data-rate': 'up' }),
      iconButton('thumb', bad, rate('down'), { class: 'icon', 'data-rate': 'down' }),
    ]
    const copyReply = () =>
      navigator.clipboard.writeText(this.#body.innerText).then(
        () => this.#actions.say(copied),
        () => {},
      )
    // Pages served over plain HTTP have no clipboard.
    const isCopied = 'clipboard' in navigator
    return h('div', { class: 'tools' }, ...this.#thumbs, isCopied && iconButton('copy', copy, copyReply))
  }

  #followUps(): HTMLElement | undefined {
    const { followUps } = this.#reply
    if (followUps.length === 0) return undefined
    return chips(
      followUps.map(({ text }) => text),
      this.#labels.followUps,
      this.#actions.ask,
    )
  }
}

/** Suggested questions as buttons. */
export const chips = (questions: string[], label: string, ask: (question: string) => void): HTMLElement =>
  h(
    'div',
    { class: 'chips', role: 'group', 'aria-label': label },
    ...questions.map((text) => h('button', { type: 'button', dir: 'auto', click: () => ask(text) }, text)),
  )
