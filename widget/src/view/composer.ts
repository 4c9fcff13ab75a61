import type { Labels } from '../labels/labels.ts'
import { h, icon } from './dom.ts'

/** The default limit of the service. */
const MAX_CHARS = '32000'
const MAX_HEIGHT_PX = 160

/** The message field. Enter sends; Shift+Enter starts a new line. */
export class Composer {
  readonly element: HTMLFormElement
  readonly #labels: Labels
  readonly #send: (text: string) => void
  readonly #stop: () => void
  readonly #field: HTMLTextAreaElement
  readonly #button = h('button', { class: 'go' })
  #isBusy = false

  constructor(labels: Labels, send: (text: string) => void, stop: () => void) {
    this.#labels = labels
    this.#send = send
    this.#stop = stop
    this.#field = h('textarea', {
      rows: '1',
      dir: 'auto',
      maxlength: MAX_CHARS,
      placeholder: labels.placeholder,
      'aria-label': labels.placeholder,
      enterkeyhint: 'send',
      input: () => this.#update(),
      keydown: (event: KeyboardEvent) => this.#keyDown(event),
    })
    const submit = (event: Event) => {
      event.preventDefault()
      this.#submit()
    }
    this.element = h('form', { class: 'composer', submit }, this.#field, this.#button)
    this.busy(false)
  }

  get text(): string {
    return this.#field.value
  }

  set text(text: string) {
    this.#field.value = text
    this.#update()
  }

  focus(): void {
    this.#field.focus()
  }

  /** While a reply is generated, the button stops it. */
  busy(isBusy: boolean): void {
    this.#isBusy = isBusy
    const name = isBusy ? 'stop' : 'send'
    this.#button.replaceChildren(icon(name))
    this.#button.ariaLabel = this.#labels[name]
    this.#button.title = this.#labels[name]
    this.#update()
  }

  #keyDown(event: KeyboardEvent): void {
    // Enter also confirms the word of an input method. Safari reports this only by the key code 229.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return
    event.preventDefault()
    if (!this.#isBusy) this.#submit()
  }

  #submit(): void {
    const { text } = this
    if (this.#isBusy) this.#stop()
    if (this.#isBusy || text.trim() === '') return
    this.text = ''
    this.#send(text)
  }

  #update(): void {
    // A disabled button would lose the focus.
    this.#button.ariaDisabled = String(!this.#isBusy && this.text.trim() === '')
    const { style } = this.#field
    style.height = 'auto'
    if (this.#field.scrollHeight > 0) style.height = `${Math.min(this.#field.scrollHeight, MAX_HEIGHT_PX)}px`
  }
}
