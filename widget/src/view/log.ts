import type { ChatMessage } from 'repartee-client'
import type { Entry } from '../chat/entries.ts'
import type { Labels } from '../labels/labels.ts'
import { h, iconButton } from './dom.ts'
import { type ReplyActions, ReplyView } from './reply-view.ts'

/** Number of messages shown at first, and added each time the reader reaches the top. */
const AT_ONCE = 40
/** Within this distance the reader counts as being at the end. */
const END_PX = 48

/** The messages, newest last. A reader at the end stays at the end. A reader who has scrolled up is not moved. */
export class Log {
  readonly element: HTMLElement
  readonly #labels: Labels
  readonly #actions: ReplyActions
  readonly #list = h('div', { class: 'entries' })
  readonly #log: HTMLElement
  readonly #toEnd: HTMLElement
  /** The shown entries by key. A question has no view, because it does not change. */
  readonly #views = new Map<string, ReplyView | undefined>()
  /** Triggers loading the details of replies from the history when they become visible. */
  readonly #seen: IntersectionObserver
  readonly #resized: ResizeObserver
  /** Entries before the first one that is shown. */
  #earlier: Entry[] = []
  #isAtEnd = true

  constructor(labels: Labels, actions: ReplyActions, welcome: HTMLElement, onSeen: (reply: ChatMessage) => void) {
    this.#labels = labels
    this.#actions = actions
    this.#log = h(
      'div',
      { class: 'log', role: 'log', 'aria-label': labels.conversation, tabindex: '0', scroll: () => this.#scrolled() },
      welcome,
      this.#list,
    )
    this.#toEnd = iconButton('down', labels.latest, () => this.#goToEnd(), { class: 'icon to-end', hidden: true })
    this.element = h('div', { class: 'middle' }, this.#log, this.#toEnd)
    this.#resized = new ResizeObserver(() => this.#isAtEnd && this.toEnd())
    for (const element of [this.#log, this.#list]) this.#resized.observe(element)
    this.#seen = new IntersectionObserver(
      (changes) => {
        for (const { isIntersecting, target } of changes)
          if (isIntersecting) for (const view of this.#views.values()) if (view?.element === target) onSeen(view.message)
      },
      { root: this.#log },
    )
  }

  /** Shows new and changed entries of the same conversation. */
  update(entries: Entry[]): void {
    for (const entry of entries.slice(this.#earlier.length)) {
      if (this.#views.has(entry.key)) this.#views.get(entry.key)?.update(entry.message)
      else {
        this.#isAtEnd ||= entry.role === 'user'
        this.#list.append(this.#toElement(entry))
      }
    }
    if (this.#isAtEnd) this.toEnd()
    else this.#toEnd.hidden = false
  }

  /** Shows another conversation, scrolled to its end, without announcing it to screen readers. */
  replace(entries: Entry[]): void {
    this.#views.clear()
    this.#log.ariaBusy = 'true'
    this.#earlier = entries.slice(0, -AT_ONCE)
    this.#list.replaceChildren(...entries.slice(-AT_ONCE).map((entry) => this.#toElement(entry)))
    this.toEnd()
    requestAnimationFrame(() => {
      this.#log.ariaBusy = null
    })
  }

  toEnd(): void {
    this.#isAtEnd = true
    this.#log.scrollTop = this.#log.scrollHeight
    this.#toEnd.hidden = true
  }

  /** Moves the focus to the log, because the button is hidden afterwards. */
  #goToEnd(): void {
    this.toEnd()
    this.#log.focus()
  }

  close(): void {
    this.#seen.disconnect()
    this.#resized.disconnect()
  }

  #scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#log
    this.#isAtEnd = scrollHeight - scrollTop - clientHeight < END_PX
    this.#toEnd.hidden = this.#isAtEnd
    if (scrollTop > END_PX || this.#earlier.length === 0) return
    const more = this.#earlier.splice(-AT_ONCE)
    this.#list.prepend(...more.map((entry) => this.#toElement(entry)))
    this.#log.scrollTop = scrollTop + this.#log.scrollHeight - scrollHeight
  }

  #toElement({ key, role, message }: Entry): HTMLElement {
    const view = role === 'agent' ? new ReplyView(message, this.#labels, this.#actions) : undefined
    this.#views.set(key, view)
    if (view === undefined) return this.#question(message)
    if (message.needsDetails) this.#seen.observe(view.element)
    return view.element
  }

  #question({ content }: ChatMessage): HTMLElement {
    return h(
      'div',
      { class: 'question' },
      h('span', { class: 'unseen' }, this.#labels.you),
      h('p', { class: 'plain', dir: 'auto' }, content),
    )
  }
}
