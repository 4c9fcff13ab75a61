import type { Terminal } from './command.ts'

// Documents and models are strangers: what they write must not steer the terminal (ESC, CSI and their like), nor turn the direction of what is read.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g

/** Text of a stranger as it may be shown: line breaks and tabs stay, other control characters and marks of direction become U+FFFD. */
export const plain = (text: string): string => text.replace(/\r\n?/g, '\n').replace(CONTROL, '\ufffd')

/** The name or path of a stranger's file, which may hold line breaks, too. */
export const plainPath = (path: string): string => plain(path).replace(/[\t\n]/g, '\ufffd')

/** On one line, and no longer than so many characters. */
export function oneLine(text: string, maxChars: number): string {
  const line = [...plain(text).replace(/\s+/g, ' ').trim()]
  return line.length <= maxChars ? line.join('') : `${line.slice(0, maxChars - 1).join('')}…`
}

/** To the minute, UTC. */
export const time = (iso: string | null, none = ''): string => (iso === null ? none : `${iso.slice(0, 16).replace('T', ' ')}Z`)

export function printJson(terminal: Terminal, value: object): void {
  terminal.out(JSON.stringify(value, null, 2))
}

/** Columns under their names; `none` where there are no rows. */
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
