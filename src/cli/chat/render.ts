import type { Terminal } from '../command.ts'
import { oneLine, plain } from '../show.ts'
import type { ChatExchange } from './conversation.ts'

const SNIPPET_CHARS = 120

export function renderExchange({ aiMessage, sources = [], followUps = [] }: ChatExchange, terminal: Terminal): string {
  const parts = [renderMarkdown(aiMessage.content, terminal)]
  if (sources.length > 0) parts.push(sources.map((source) => renderSource(source, SNIPPET_CHARS)).join('\n'))
  if (followUps.length > 0) parts.push(renderOffers(followUps.map(({ text }) => text)))
  return `${parts.join('\n\n')}\n`
}

type Source = NonNullable<ChatExchange['sources']>[number]

export function renderSource({ index, title, url, snippet }: Source, snippetChars: number): string {
  const address = url === null ? '' : ` <${oneLine(url, 300)}>`
  return `[${index}] ${oneLine(title, 100)}${address} — ${oneLine(snippet, snippetChars)}`
}

export const renderOffers = (questions: string[]): string =>
  questions.map((text, i) => `${i + 1}) ${oneLine(text, 200)}`).join('\n')

/** Renders Markdown unchanged, except for bold text on a terminal. */
export function renderMarkdown(markdown: string, terminal: Terminal): string {
  const text = plain(markdown).trim()
  if (!terminal.isInteractive) return text
  return text.replace(/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, (_, strong: string) => terminal.bold(strong))
}
