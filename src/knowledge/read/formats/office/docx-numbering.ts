import { attribute, type OfficeFile } from './ooxml.ts'

interface Level {
  start: number
  format: string
  /** The label, with `%1` for the number of the first level, and so on. */
  text: string
}

const DEEPEST = 8
const ROMAN: [number, string][] = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
]

/** The numbers that Word shows before paragraphs. They are not in the text, but people use them to ask for clause 4.2. */
export class Numbering {
  /** Levels of each abstract definition, and the definition of each list. */
  readonly #levels = new Map<string, Level[]>()
  readonly #definitionOf = new Map<string, string>()
  readonly #counts = new Map<string, number[]>()

  static async read(file: OfficeFile, part: string): Promise<Numbering> {
    const numbering = new Numbering()
    let levels: Level[] | undefined
    let level: Level | undefined
    let list: string | undefined
    await file.parse(part, {
      open: (name, attributes) => {
        const value = attribute(attributes, 'val') ?? ''
        if (name === 'abstractNum') {
          levels = []
          numbering.#levels.set(attribute(attributes, 'abstractNumId') ?? '', levels)
        } else if (name === 'lvl') {
          level = { start: 1, format: 'decimal', text: '' }
          const at = Number(attribute(attributes, 'ilvl'))
          if (levels !== undefined && at >= 0 && at <= DEEPEST) levels[at] = level
        } else if (name === 'num') list = attribute(attributes, 'numId')
        else if (name === 'abstractNumId' && list !== undefined) numbering.#definitionOf.set(list, value)
        else if (level === undefined) return
        else if (name === 'start') level.start = Number(value) || 0
        else if (name === 'numFmt') level.format = value
        else if (name === 'lvlText') level.text = value.slice(0, 50)
      },
      close: (name) => {
        if (name === 'abstractNum') levels = undefined
        else if (name === 'lvl') level = undefined
        else if (name === 'num') list = undefined
      },
    })
    return numbering
  }

  /** Returns the label of the next paragraph of a list, or an empty string. Lists of one definition share their counts. */
  next(list: string, at: number): string {
    const definition = this.#definitionOf.get(list)
    const levels = definition === undefined ? undefined : this.#levels.get(definition)
    const level = levels?.[at]
    if (levels === undefined || level === undefined) return list === '0' || list === '' ? '' : '-'
    if (level.format === 'bullet') return '-'
    if (level.format === 'none') return ''
    const counts = this.#counts.get(definition!) ?? []
    this.#counts.set(definition!, counts)
    counts[at] = (counts[at] ?? level.start - 1) + 1
    counts.length = at + 1
    return level.text.replace(/%([1-9])/g, (_all, digit: string) => {
      const of = Number(digit) - 1
      return formatted(counts[of] ?? levels[of]?.start ?? 1, levels[of]?.format ?? 'decimal')
    })
  }
}

function formatted(n: number, format: string): string {
  if (n < 1 || n > 10_000) return String(n)
  switch (format) {
    case 'lowerLetter':
      return letters(n)
    case 'upperLetter':
      return letters(n).toUpperCase()
    case 'lowerRoman':
      return roman(n)
    case 'upperRoman':
      return roman(n).toUpperCase()
    default:
      return String(n)
  }
}

/** a to z, then aa to zz, as Word counts. */
const letters = (n: number): string => String.fromCharCode(97 + ((n - 1) % 26)).repeat(Math.min(20, Math.ceil(n / 26)))

function roman(n: number): string {
  let rest = n
  let text = ''
  for (const [value, sign] of ROMAN) {
    while (rest >= value) {
      text += sign
      rest -= value
    }
  }
  return text
}
