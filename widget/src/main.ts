import type { ReparteeWidget } from 'repartee-client/widget'
import { ChatElement, NAME } from './element.ts'
import { type ChatOptions, complain, readAttributes } from './options.ts'

/** A floating chat that waits for the page to load. */
let waiting: ChatElement | undefined
const floatingOne = () => document.querySelector<ChatElement>(`${NAME}[floating]`) ?? waiting
/** The target of calls that name no element. */
const current = () => floatingOne() ?? document.querySelector<ChatElement>(NAME)

function create(options: ChatOptions): ChatElement {
  const { target } = options
  const before = target === undefined ? floatingOne() : undefined
  if (before !== undefined && (before.options.agentId ?? before.getAttribute('agent')) === options.agentId) return before
  before?.destroy()
  const chat = document.createElement(NAME) as ChatElement
  if (target === undefined) chat.setAttribute('floating', '')
  chat.options = options
  // Appended after the body, because many pages replace the body or its content when they navigate.
  const place = () => (typeof target === 'string' ? document.querySelector(target) : (target ?? document.body?.parentElement))
  const put = () => {
    if (waiting === chat) waiting = undefined
    if (!place()) complain(`there is no ${target} in the page.`)
    place()?.append(chat)
  }
  if (place() || document.readyState !== 'loading') put()
  else {
    // A script in the head runs before the page has any elements.
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

/** Creates the chat that the script tag describes, once the page has loaded. */
function start(script: HTMLOrSVGScriptElement | null, widget: ReparteeWidget): void {
  const options = readAttributes((name) => script?.getAttribute(`data-${name}`))
  if (options.agentId === undefined) return
  const begin = () => widget.create(options as ChatOptions)
  if (document.body !== null && document.readyState !== 'loading') begin()
  else document.addEventListener('DOMContentLoaded', begin, { once: true })
}

// A second script tag uses the definitions of the first.
if (customElements.get(NAME) === undefined) {
  customElements.define(NAME, ChatElement)
  globalThis.Repartee = api
}
if (globalThis.Repartee !== undefined) start(document.currentScript, globalThis.Repartee)
