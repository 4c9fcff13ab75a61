import type { ChatMessage } from 'repartee-client'
import { stateOf } from '../chat/entries.ts'
import { wordsFor } from '../labels/errors.ts'
import type { Labels } from '../labels/labels.ts'
import { h, icon, iconButton } from './dom.ts'
import { GrowingText } from './growing-text.ts'
import { safeHtml } from './safe-html.ts'
import { sourceList } from './source-list.ts'

export interface ReplyActions {
  ask(question: string): void
  retry(messageId: string): void
  rate(messageId: string, rating: 'up' | 'down'): void
  /** Announces a text to screen readers. */
  say(text: string): void
}

/** A reply as displayed: growing text, then the complete reply with its sources and buttons. */
export class ReplyView {
  readonly element: HTMLElement
  /** The reply, or its question until there is a reply. */
  message: ChatMessage
  readonly #labels: Labels
  readonly #actions: ReplyActions
  readonly #body = h('div', { class: 'body', dir: 'auto' })
  readonly #text = new GrowingText(this.#body)
  readonly #after = h('div', { class: 'after' })
  /** A reply from the history. It is not announced when its sources arrive. */
  readonly #isOld: boolean
  #shown = ''
  /** The partial text. */
  #partial = ''
  #thumbs: HTMLElement[] = []

  constructor(message: ChatMessage, labels: Labels, actions: ReplyActions) {
    this.message = message
    this.#isOld = message.role === 'AI' && message.turn !== 'running' && message.generation === undefined
    this.#labels = labels
    this.#actions = actions
    this.element = h('div', { class: 'reply' }, h('span', { class: 'unseen' }, labels.agent), this.#body, this.#after)
    this.#show()
  }

  update(message: ChatMessage): void {
    if (message === this.message) return
    this.message = message
    this.#show()
  }

  /** Shows the changes of the reply and nothing else, so that readers and the focus are not disturbed. */
  #show(): void {
    const { content, format, sources, followUps, feedback } = this.message
    const state = stateOf(this.message)
    const isGrowing = state === 'waiting' || state === 'writing'
    this.element.dataset.state = state
    // Screen readers announce the complete reply once, not piece by piece.
    this.element.ariaLive = isGrowing || this.#isOld ? 'off' : null
    if (isGrowing) this.#grow(state === 'writing' ? content : '')
    const shown = isGrowing ? '' : JSON.stringify([state, content, format, sources, followUps])
    if (shown !== this.#shown && !isGrowing) this.#showWhole(state)
    this.#shown = shown
    for (const [i, button] of this.#thumbs.entries()) button.ariaPressed = String(feedback?.rating === (i === 0 ? 'up' : 'down'))
  }

  #grow(text: string): void {
    this.#partial = text
    this.#after.replaceChildren()
    if (text === '') this.#body.replaceChildren(h('span', { class: 'dots', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')))
    else this.#text.show(text)
  }

  #showWhole(state: ReturnType<typeof stateOf>): void {
    const { role, content, format, sources = [] } = this.message
    const list = sources.length > 0 ? sourceList(sources, this.#labels) : undefined
    const isWhole = role === 'AI'
    // Inserts the text again, because screen readers announce only inserted content.
    this.#body.replaceChildren(...(isWhole ? [safeHtml(content, format, list?.toMark)] : []))
    if (!isWhole && this.#partial !== '') this.#text.show(this.#partial)
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
    const { id, error } = this.message
    const retry = () => this.#actions.retry(id)
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
      const { id, feedback } = this.message
      if (feedback?.rating !== rating) this.#actions.rate(id, rating)
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
    const { followUps = [] } = this.message
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
