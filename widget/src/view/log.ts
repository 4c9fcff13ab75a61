import type { Entry, Question } from '../chat/entries.ts'
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
  readonly #views = new Map<Entry, ReplyView>()
  /** Replies whose text is updated in the next frame. */
  readonly #growing = new Set<Entry>()
  /** Triggers loading the details of replies from the history when they become visible. */
  readonly #seen: IntersectionObserver
  readonly #resized: ResizeObserver
  #earlier: Entry[] = []
  #isAtEnd = true

  constructor(labels: Labels, actions: ReplyActions, welcome: HTMLElement, onSeen: (entry: Entry) => void) {
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
          if (isIntersecting) for (const [entry, view] of this.#views) if (view.element === target) onSeen(entry)
      },
      { root: this.#log },
    )
  }

  add(entry: Entry): void {
    this.#list.append(this.#toElement(entry))
    if (entry.role === 'user') this.#isAtEnd = true
    this.#stay()
  }

  /** Updates an entry: growing text once per frame, other changes immediately, because a page in the background has no frames. */
  change(entry: Entry): void {
    if (entry.role === 'user' || entry.state !== 'writing') this.#update(entry)
    else if (!this.#growing.has(entry)) {
      this.#growing.add(entry)
      requestAnimationFrame(() => {
        this.#growing.delete(entry)
        this.#update(entry)
      })
    }
  }

  #update(entry: Entry): void {
    this.#views.get(entry)?.update()
    this.#stay()
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

  #stay(): void {
    if (this.#isAtEnd) this.toEnd()
    else this.#toEnd.hidden = false
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

  #toElement(entry: Entry): HTMLElement {
    if (entry.role === 'user') return this.#question(entry)
    const view = new ReplyView(entry, this.#labels, this.#actions)
    this.#views.set(entry, view)
    if (entry.isBare) this.#seen.observe(view.element)
    return view.element
  }

  #question({ text }: Question): HTMLElement {
    return h(
      'div',
      { class: 'question' },
      h('span', { class: 'unseen' }, this.#labels.you),
      h('p', { class: 'plain', dir: 'auto' }, text),
    )
  }
}
