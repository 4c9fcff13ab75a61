import type { Script } from './languages.ts'

/** Character classes: a character ends a run, or belongs to one of three kinds of run. */
export const BREAK = 0
/** Scripts with spaces between words: letters, digits and combining marks (without the marks, Hindi words would be split). */
export const SPACED = 1
export const HAN = 2
/** Thai, Lao, Khmer, Myanmar. */
export const SOUTH_EAST = 3
export type RunKind = typeof SPACED | typeof HAN | typeof SOUTH_EAST

// Includes the joiners and the soft hyphen, which occur inside words.
const LETTER = /[\p{L}\p{N}\p{M}]|\u200c|\u200d|\u00ad/u
const HAN_OR_KANA = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u
/** Marks of Latin, Greek and Cyrillic script. They never end a word, although Katakana uses some in phonetic writing. */
const ALPHABETIC_MARK = /[\u0300-\u036f]/
const UNSPACED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const UNKNOWN = 255

function classify(character: string): number {
  if (!LETTER.test(character)) return BREAK
  if (ALPHABETIC_MARK.test(character)) return SPACED
  if (HAN_OR_KANA.test(character)) return HAN
  return UNSPACED.test(character) ? SOUTH_EAST : SPACED
}

// Caches the result of the regular expressions for each character of the basic plane; 64 kB.
const classes = new Uint8Array(0x10000).fill(UNKNOWN)

function classOf(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  let kind = classes[unit]!
  if (kind !== UNKNOWN) return kind
  if (unit >= 0xd800 && unit < 0xe000) return classify(String.fromCodePoint(text.codePointAt(at)!))
  kind = classify(String.fromCharCode(unit))
  classes[unit] = kind
  return kind
}

/** True if the character at this offset is of a script without spaces between words. */
export const isUnspacedAt = (text: string, at: number): boolean => classOf(text, at) > SPACED

/** Calls `found` with the kind and UTF-16 offsets of each run. Runs end at spaces, punctuation and a change of kind ("2010年" is two runs). */
export function scan(text: string, found: (kind: RunKind, start: number, end: number) => void): void {
  let start = 0
  let current = BREAK
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at)
    const width = unit >= 0xd800 && unit < 0xdc00 && at + 1 < text.length ? 2 : 1
    let kind = unit < 0xd800 ? classes[unit]! : UNKNOWN
    if (kind === UNKNOWN) kind = classOf(text, at)
    if (kind !== current) {
      if (current !== BREAK) found(current as RunKind, start, at)
      start = at
      current = kind
    }
    at += width
  }
  if (current !== BREAK) found(current as RunKind, start, text.length)
}

const SCRIPTS: readonly (readonly [RegExp, Script])[] = [
  [/\p{Script=Latin}/u, 'latin'],
  [/\p{Script=Cyrillic}/u, 'cyrillic'],
  [/\p{Script=Greek}/u, 'greek'],
  [/\p{Script=Arabic}/u, 'arabic'],
  [/\p{Script=Devanagari}/u, 'devanagari'],
  [/\p{Script=Hebrew}/u, 'hebrew'],
  [/\p{Script=Hangul}/u, 'hangul'],
  [HAN_OR_KANA, 'han'],
  [/\p{Script=Thai}/u, 'thai'],
  [/\p{Script=Lao}/u, 'lao'],
  [/\p{Script=Khmer}/u, 'khmer'],
  [/\p{Script=Myanmar}/u, 'myanmar'],
]

const PLAIN = /^[a-z]/

/** Returns the script of a run by its first letter that has one; `other` for numbers and rare scripts. */
export function scriptOfRun(run: string): Script {
  if (PLAIN.test(run)) return 'latin'
  for (const [pattern, script] of SCRIPTS) if (pattern.test(run)) return script
  return 'other'
}
