import type { Terminal } from './command.ts'

// Texts of documents and models are untrusted. They must not control the terminal (ESC, CSI and similar), nor reverse the reading direction.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** Returns untrusted text in printable form. Control characters and bidi marks, except line breaks and tabs, become U+FFFD. */
export const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(CONTROL, '\ufffd')

/** Returns an untrusted file name or path in printable form. Such a name may also contain line breaks. */
export const plainPath = (path: string): string => plain(path).replace(/[\t\n]/g, '\ufffd')

/** Returns the text on one line of at most `maxChars` characters. */
export function oneLine(text: string, maxChars: number): string {
  const line = [...plain(text).replace(/\s+/g, ' ').trim()]
  return line.length <= maxChars ? line.join('') : `${line.slice(0, maxChars - 1).join('')}…`
}

/** Returns a time to the minute, UTC. */
export const time = (iso: string | null, none = ''): string => (iso === null ? none : `${iso.slice(0, 16).replace('T', ' ')}Z`)

export function printJson(terminal: Terminal, value: object): void {
  terminal.out(JSON.stringify(value, null, 2))
}

/** Prints columns with headers, or `none` without rows. */
export function printTable(terminal: Terminal, names: string[], rows: string[][], none: string): void {
  if (rows.length === 0) {
    terminal.out(none)
    return
  }
  const widths = names.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]!.length)))
  const line = (row: string[]) => row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i]!))).join('  ')
  terminal.out([terminal.bold(line(names)), ...rows.map(line)].join('\n'))
}

export const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
