import type { ReparteeWidget } from 'repartee-client/widget'
import { ChatElement, NAME } from './element.ts'
import { type ChatOptions, complain, readAttributes } from './options.ts'

/** One that is put into the page when that is there. */
let waiting: ChatElement | undefined
const floatingOne = () => document.querySelector<ChatElement>(`${NAME}[floating]`) ?? waiting
/** The chat that calls without an element are about. */
const current = () => floatingOne() ?? document.querySelector<ChatElement>(NAME)

function create(options: ChatOptions): ChatElement {
  const { target } = options
  const before = target === undefined ? floatingOne() : undefined
  if (before !== undefined && (before.options.agentId ?? before.getAttribute('agent')) === options.agentId) return before
  before?.destroy()
  const chat = document.createElement(NAME) as ChatElement
  if (target === undefined) chat.setAttribute('floating', '')
  chat.options = options
  // Beside the body, because many pages replace that, or all that is in it, when they go to another page.
  const place = () => (typeof target === 'string' ? document.querySelector(target) : (target ?? document.body?.parentElement))
  const put = () => {
    if (waiting === chat) waiting = undefined
    if (!place()) complain(`there is no ${target} in the page.`)
    place()?.append(chat)
  }
  if (place() || document.readyState !== 'loading') put()
  else {
    // A script in the head is run before there is anything.
    if (target === undefined) waiting = chat
    document.addEventListener('DOMContentLoaded', () => (target !== undefined || waiting === chat) && put(), { once: true })
  }
  return chat
}

const api: ReparteeWidget = {
  create,
  open: (options) => (options === undefined ? current() : create(options))?.open(),
  close: () => current()?.close(),
  send: (text) => current()?.send(text),
  destroy() {
    current()?.destroy()
    waiting = undefined
  },
  on(event, listener) {
    const hear = (told: Event) => listener((told as CustomEvent).detail)
    document.addEventListener(`repartee-${event}`, hear)
    return () => document.removeEventListener(`repartee-${event}`, hear)
  },
}

/** Does what the script's own tag says, when the page is there. */
function start(script: HTMLOrSVGScriptElement | null, widget: ReparteeWidget): void {
  const options = readAttributes((name) => script?.getAttribute(`data-${name}`))
  if (options.agentId === undefined) return
  const begin = () => widget.create(options as ChatOptions)
  if (document.body !== null && document.readyState !== 'loading') begin()
  else document.addEventListener('DOMContentLoaded', begin, { once: true })
}

// A second tag is served by what the first one brought.
if (customElements.get(NAME) === undefined) {
  customElements.define(NAME, ChatElement)
  globalThis.Repartee = api
}
if (globalThis.Repartee !== undefined) start(document.currentScript, globalThis.Repartee)
