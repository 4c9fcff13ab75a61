import { h } from './dom.ts'
import { plainText } from './safe-html.ts'

/** A part ends after a line, else after a word, else after this many characters. */
const PART_CHARS = 2_000
const PART = /^(?:.{0,1999}\n|.{0,1999} |.{1,2000})/su

/** Text that grows at its end. It consists of parts and only the last part changes, so a long text costs no more than a short one. */
export class GrowingText {
  readonly #place: HTMLElement
  #last = newPart()
  /** Where the last part begins. */
  #from = 0

  constructor(place: HTMLElement) {
    this.#place = place
  }

  /** Shows a text that begins with the text of the previous call. If the element's content was replaced, any text is allowed. */
  show(text: string): void {
    if (this.#last.parentNode !== this.#place) {
      this.#from = 0
      this.#place.replaceChildren(this.#last)
    }
    for (;;) {
      const rest = text.slice(this.#from)
      const part = rest.length > PART_CHARS ? PART.exec(rest)![0] : rest
      this.#last.textContent = plainText(part)
      if (part.length === rest.length) return
      this.#from += part.length
      this.#last = newPart()
      this.#place.append(this.#last)
    }
  }
}

const newPart = () => h('div', { class: 'plain' })
