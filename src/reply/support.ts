import { own } from '../core/platform/own.ts'
import type { Hit } from '../core/ports/retrieval.ts'
import { analyse, type Language } from '../text/analyse.ts'
import { fold, lower, normalize } from '../text/fold.ts'
import { runGrams } from '../text/ngrams.ts'

export type Verdict = 'supported' | 'unsupported' | 'unchecked'

/** The share of a statement's content that its passage must contain; less in scripts without spaces. Measured with bench/citations.ts. */
export interface LeastShares {
  words: number
  pieces: number
}
export const LEAST_SHARES: LeastShares = { words: 0.5, pieces: 0.3 }
/** A statement with less content cannot be checked. */
const LEAST_CONTENT = 2
/** In scripts without spaces, several pieces make a word. */
const PIECE_WEIGHT = 0.25
/** A shorter stem must be a whole word: "car" is not in "card". */
const LEAST_PREFIX = 4

/** The content of a statement that can be checked against a passage. */
export interface Claim {
  language: Language
  words: { exact: string; stem: string }[]
  /** Only for scripts without spaces. */
  pieces: string[]
  numbers: string[]
}

/** `language` is that of the whole reply, because a statement is too short to detect it. */
export function toClaim(statement: string, language: Language): Claim {
  const { tokens, runs } = analyse(statement, language)
  return {
    language,
    words: tokens.filter(({ exact, stop, spaced }) => spaced && exact !== '' && !stop),
    pieces: runs.flatMap(runGrams).filter((gram) => gram.length > 1),
    numbers: [...numbersOf(statement)],
  }
}

/** The longest piece in the index. */
const MOST_PIECE_CHARS = 4

/** A passage that statements are checked against. It is analysed only for its language, and only if a statement is not supported. */
export class PassageChecker {
  readonly #text: string
  readonly #words: string
  readonly #numbers: Set<string>
  readonly #question: string
  #language: Language | undefined
  #others: Set<string> | undefined
  /** Cached because a growing reply is checked again and again. */
  readonly #verdicts = new Map<Claim, Verdict>()
  #sorted: string[] | undefined
  #pieces: Set<string> | undefined

  constructor({ title, heading, text }: Hit, question: string) {
    this.#text = `${title}\n${heading}\n${text}`
    this.#words = ` ${fold(lower(this.#text)).replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')} `
    this.#numbers = numbersOf(this.#text)
    this.#question = question
  }

  /** Returns whether the passage supports a statement, given as claims, nearest first. `least` must be the same for all calls. */
  judge(claims: Iterable<Claim>, least: LeastShares = LEAST_SHARES): Verdict {
    const claim = firstWithContent(claims)
    if (claim === undefined) return 'unchecked'
    const known = this.#verdicts.get(claim)
    if (known !== undefined) return known
    const verdict = this.#judge(claim, least)
    this.#verdicts.set(claim, verdict)
    return verdict
  }

  #judge(claim: Claim, { words, pieces }: LeastShares): Verdict {
    if (!claim.numbers.every((number) => this.#holdsNumber(number))) return 'unsupported'
    const held =
      claim.words.filter(({ exact, stem }) => this.#holdsWord(exact, stem)).length +
      claim.pieces.filter((piece) => this.#holdsPiece(piece)).length * PIECE_WEIGHT
    if (held >= claim.words.length * words + claim.pieces.length * PIECE_WEIGHT * pieces) return 'supported'
    this.#language ??= analyse(this.#text).language
    return claim.language === this.#language ? 'unsupported' : 'unchecked'
  }

  /** Returns true if the passage contains the word, or one that begins with its stem. */
  #holdsWord(exact: string, stem: string): boolean {
    if (this.#beginning(exact) === exact) return true
    const prefix = stem.length > LEAST_PREFIX ? stem.slice(0, Math.max(LEAST_PREFIX, stem.length - 1)) : stem
    const found = this.#beginning(prefix)
    return prefix.length < LEAST_PREFIX ? found === prefix : found?.startsWith(prefix) === true
  }

  /** Returns the first word in sort order that is not before `prefix`. If any word begins with the prefix, this one does. */
  #beginning(prefix: string): string | undefined {
    this.#sorted ??= [...new Set(this.#words.trim().split(' '))].sort(byCodeUnit)
    let from = 0
    for (let to = this.#sorted.length; from < to; ) {
      const middle = (from + to) >> 1
      if (this.#sorted[middle]! < prefix) from = middle + 1
      else to = middle
    }
    return this.#sorted[from]
  }

  #holdsPiece(piece: string): boolean {
    if (piece.length < 2 || piece.length > MOST_PIECE_CHARS) return this.#words.includes(piece)
    this.#pieces ??= piecesOf(this.#words)
    return this.#pieces.has(piece)
  }

  #holdsNumber(number: string): boolean {
    if (this.#numbers.has(number)) return true
    // Includes spelled-out numbers, and the user's own numbers, which need no support.
    this.#others ??= new Set([...spelledNumbersOf(this.#text), ...numbersOf(this.#question), ...spelledNumbersOf(this.#question)])
    const hour = Number(number)
    // 16:00 is four o'clock.
    const twelve = hour > 12 && hour < 24 ? String(hour - 12) : number
    return this.#others.has(number) || this.#numbers.has(twelve) || this.#others.has(twelve)
  }
}

function firstWithContent(claims: Iterable<Claim>): Claim | undefined {
  for (const claim of claims) if (claim.words.length + claim.pieces.length * PIECE_WEIGHT >= LEAST_CONTENT) return claim
  return undefined
}

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns every part of a text of two to four characters. */
function piecesOf(text: string): Set<string> {
  const pieces = new Set<string>()
  for (let at = 0; at < text.length; at++)
    for (let length = 2; length <= MOST_PIECE_CHARS && at + length <= text.length; length++)
      pieces.add(text.slice(at, at + length))
  return pieces
}

const DIGITS = /\p{Nd}(?:[\p{Nd}.,'’\u00a0\u202f]*\p{Nd})?/gu
const LIST_NUMBER = /^[ \t]*\d{1,3}[.)](?=\s)/gm
/** Small numbers as words. They equal the same number in digits. */
const WORDS: Record<string, string> = Object.fromEntries(
  Object.entries({
    1: 'one ein eine einen einem einer eins un una une uno een um uma один одна одно',
    2: 'two zwei deux dos due twee dois duas два две twice',
    3: 'three drei trois tres tre drie três три',
    4: 'four vier quatre cuatro quattro quatro четыре',
    5: 'five fünf cinq cinco cinque vijf пять',
    6: 'six sechs seis sei zes шесть',
    7: 'seven sieben sept siete sette zeven sete семь',
    8: 'eight acht huit ocho otto oito восемь',
    9: 'nine neun neuf nueve nove negen девять',
    10: 'ten zehn dix diez dieci tien dez десять',
    11: 'eleven elf onze once undici одиннадцать',
    12: 'twelve zwölf douze doce dodici twaalf двенадцать dozen noon midday',
    13: 'thirteen dreizehn treize trece',
    14: 'fourteen vierzehn quatorze catorce fortnight',
    15: 'fifteen fünfzehn quinze quince',
    16: 'sixteen sechzehn seize dieciséis',
    18: 'eighteen achtzehn dieciocho',
    20: 'twenty zwanzig vingt veinte venti vinte twintig двадцать',
    24: 'vierundzwanzig',
    30: 'thirty dreißig trente treinta trenta trinta dertig тридцать',
    40: 'forty vierzig quarante cuarenta quaranta quarenta veertig сорок',
    50: 'fifty fünfzig cinquante cincuenta cinquanta vijftig пятьдесят',
    60: 'sixty sechzig soixante sesenta sessanta sessenta zestig шестьдесят',
    70: 'seventy siebzig setenta settanta zeventig семьдесят',
    80: 'eighty achtzig ochenta ottanta oitenta tachtig восемьдесят',
    90: 'ninety neunzig noventa novanta negentig девяносто',
    100: 'hundred hundert cent cien ciento cento cem honderd сто',
    1000: 'thousand tausend mille mil duizend тысяча',
  }).flatMap(([number, words]) => words.split(' ').map((word) => [word, number])),
)
const LETTERS = /\p{L}+/gu

/** Returns all numbers written in digits, without separators. */
function numbersOf(text: string): Set<string> {
  const numbers = new Set<string>()
  for (const [figures] of text.replace(LIST_NUMBER, '').matchAll(DIGITS)) {
    const plain = normalize(figures, 'NFKC')
      .replace(/[^\p{Nd}]/gu, '')
      .replace(/^0+(?=.)/, '')
    if (plain !== '0') numbers.add(plain)
  }
  return numbers
}

/** Returns the small numbers that a text spells out. */
function spelledNumbersOf(text: string): string[] {
  return [...text.matchAll(LETTERS)].flatMap(([word]) => own(WORDS, word.toLowerCase()) ?? [])
}
