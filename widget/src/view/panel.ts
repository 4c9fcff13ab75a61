import type { Labels } from '../labels/labels.ts'
import type { ChatOptions } from '../options.ts'
import type { Composer } from './composer.ts'
import { h, icon, iconButton } from './dom.ts'
import type { Log } from './log.ts'
import { chips } from './reply-view.ts'

export interface Panel {
  element: HTMLElement
  /** Shows a connection problem. An empty text hides it. */
  notice(text: string): void
  /** Shows that the history could not be loaded. Undefined hides it. */
  problem(text: string | undefined, retry: () => void): void
  say(text: string): void
}

/** Creates the frame of a chat: header, messages, notices and composer. */
export function makePanel(
  labels: Labels,
  options: ChatOptions,
  { log, composer, close, reset }: { log: Log; composer: Composer; close?: (() => void) | undefined; reset: () => void },
): Panel {
  const notice = h('p', { class: 'notice', role: 'status', hidden: true })
  const problem = h('div', { class: 'failure', role: 'alert', hidden: true })
  const status = h('p', { class: 'unseen', role: 'status' })
  const head = h(
    'header',
    {},
    h('span', { class: 'badge' }, icon('chat')),
    h('h2', { id: 'title', dir: 'auto' }, options.title ?? labels.title),
    iconButton('new', labels.newChat, reset),
    close !== undefined && iconButton('down', labels.close, close),
  )
  const foot = h('p', { class: 'note foot' }, labels.notice)
  const role = close === undefined ? 'region' : 'dialog'
  const parts = [head, log.element, problem, notice, composer.element, ...(labels.notice === '' ? [] : [foot]), status]
  return {
    element: h('section', { class: 'panel', role, 'aria-labelledby': 'title', tabindex: '-1' }, ...parts),
    notice(text) {
      notice.hidden = text === ''
      notice.textContent = text
    },
    problem(text, retry) {
      problem.hidden = text === undefined
      const again = h('button', { type: 'button', class: 'retry', click: retry }, icon('retry'), labels.retry)
      problem.replaceChildren(...(text === undefined ? [] : [h('p', {}, text), again]))
    },
    say(text) {
      status.textContent = text
    },
  }
}

/** The content above the first message. */
export class Welcome {
  readonly element = h('div', { class: 'welcome' })
  readonly #labels: Labels
  readonly #ask: (text: string) => void

  constructor(labels: Labels, ask: (text: string) => void) {
    this.#labels = labels
    this.#ask = ask
  }

  fill({ greeting = '', starters = [] }: Pick<ChatOptions, 'greeting' | 'starters'>): void {
    const words = greeting === '' ? [] : [h('p', { class: 'plain', dir: 'auto' }, greeting)]
    const questions = starters.length === 0 ? [] : [chips(starters, this.#labels.followUps, this.#ask)]
    this.element.replaceChildren(...words, ...questions)
  }
}
