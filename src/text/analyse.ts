import { fold, isAscii, lower } from './fold.ts'
import { type Language, languageMarkers, languages, languagesOf, type Script, scriptOf, scripts } from './languages.ts'
import { hashOf, hashOfUnits, type Run, runGrams, wordGrams } from './ngrams.ts'
import { HAN, type RunKind, SPACED, scan, scriptOfRun } from './scan.ts'
import { stem } from './stem.ts'
import { stopWords } from './stop-words.ts'

export type { Language } from './languages.ts'

/** A word, or in Han and Kana also each overlapping pair of characters. `start` and `end` are UTF-16 offsets in the text. */
export interface Token {
  /** The form shared by all inflections: the primary search key. */
  stem: string
  /** The folded word; empty for a pair of characters, which is not a word. */
  exact: string
  /** True for a stop word. */
  stop: boolean
  /** True for a script with spaces between words. */
  spaced: boolean
  /** Equal for equal words of a spaced script, for tables of recent words. 0 for all others. */
  hash: number
  start: number
  end: number
}

export interface Analysis {
  /** The detected or given language of the text. */
  language: Language
  /** Ordered by `start`, except for pairs of characters, which come before the words of their run. */
  tokens: Token[]
  /** Folded runs of scripts without spaces: the input of `runGrams`. */
  runs: Run[]
}

/** Cached data of a word as written, so that it is folded, looked up and stemmed once. */
interface Word {
  raw: string
  hash: number
  lower: string
  exact: string
  script: Script
  /** Its index in `scripts`. */
  scriptNumber: number
  /** Languages of its script that it votes for, as indexes in `languages`, and the weight of each vote. */
  votes: readonly number[]
  weight: number
  /** The language for which `stem` and `stop` are valid. */
  language: Language | undefined
  stem: string
  stop: boolean
  /** Hashes of its n-grams, computed on first use. */
  grams: Uint16Array | undefined
}

/** The word cache is cleared above this size (some 10 MB). */
const MAX_WORDS = 60_000
/** Longer runs of letters are data, not words: they are truncated and not cached. */
const MAX_WORD = 64
/** Shorter slices of a text are copies, not views. */
const LEAST_SLICE = 13
const words = new Map<string, Word>()

function wordOf(raw: string, hash: number): Word {
  const known = words.get(raw)
  if (known !== undefined) return known
  // Copied, because a slice would retain the whole text. The engine copies short slices itself.
  const own = raw.length < LEAST_SLICE ? raw : Buffer.from(raw, 'utf16le').toString('utf16le')
  const small = lower(own.length > MAX_WORD ? own.slice(0, MAX_WORD) : own)
  const exact = fold(small)
  const script = scriptOfRun(small)
  const votes = votesOf(small, exact, script)
  const word: Word = {
    raw: own,
    hash,
    lower: small,
    exact,
    script,
    scriptNumber: scripts.indexOf(script),
    votes,
    weight: votes.length === 0 ? 0 : 1 / votes.length,
    language: undefined,
    stem: '',
    stop: false,
    grams: undefined,
  }
  if (own.length > MAX_WORD) return word
  if (words.size >= MAX_WORDS) words.clear()
  words.set(own, word)
  return word
}

/** Recent words, by a hash of their letters: most are found without slicing the text. */
const recent: (Word | undefined)[] = new Array(0x8000).fill(undefined)

function wordAt(text: string, start: number, end: number): Word {
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  const place = (hash ^ (hash >>> 15)) & 0x7fff
  const known = recent[place]
  if (known !== undefined && known.raw.length === end - start && text.startsWith(known.raw, start)) return known
  const word = wordOf(text.slice(start, end), place)
  if (end - start <= MAX_WORD) recent[place] = word
  return word
}

const NONE: readonly number[] = []

function votesOf(small: string, exact: string, script: Script): readonly number[] {
  const candidates = languagesOf[script]
  if (candidates.length < 2) return NONE
  const told = isAscii(small) ? undefined : languageMarkers.find(([letters]) => letters.test(small))
  if (told === undefined) return speakersOf(script).get(exact) ?? NONE
  return told[1].filter((language) => candidates.includes(language)).map((language) => languages.indexOf(language))
}

const speakers = new Map<Script, ReadonlyMap<string, number[]>>()

/** Returns the stop words of all languages of a script, with their languages as indexes in `languages`. */
function speakersOf(script: Script): ReadonlyMap<string, number[]> {
  const known = speakers.get(script)
  if (known !== undefined) return known
  const words = languagesOf[script].flatMap((language) =>
    [...stopWords(language)].map((word) => ({ word, language: languages.indexOf(language) })),
  )
  const byWord = new Map(
    [...Map.groupBy(words, ({ word }) => word)].map(([word, all]) => [word, all.map(({ language }) => language)]),
  )
  speakers.set(script, byWord)
  return byWord
}

const DIGIT = /\d/

function settle(word: Word, language: Language): void {
  word.language = language
  word.stop = stopWords(language).has(word.exact)
  word.stem = word.script === 'other' || DIGIT.test(word.exact) ? word.exact : stem(word.lower, language)
}

interface Piece {
  kind: RunKind
  start: number
  end: number
  /** The word, if the script is spaced. */
  word: Word | undefined
}

function split(text: string): Piece[] {
  const pieces: Piece[] = []
  scan(text, (kind, start, end) => {
    if (kind !== SPACED) {
      pieces.push({ kind, start, end, word: undefined })
      return
    }
    if (pieces.length > 0 && isPossessive(text, start, end)) return
    const word = wordAt(text, start, end)
    if (word.exact !== '') pieces.push({ kind, start, end, word })
  })
  return pieces
}

/** Possessive 's is not a word. */
const isPossessive = (text: string, start: number, end: number): boolean =>
  end - start === 1 && start > 0 && (text.charCodeAt(start) | 32) === 115 && isApostrophe(text.charCodeAt(start - 1))

const isApostrophe = (unit: number): boolean => unit === 0x27 || unit === 0x2019

/**
 * Returns the language of a text by its script. Words vote among languages of Latin, Cyrillic and Arabic script, and between Chinese and Japanese.
 * `held` limits the languages (those in a knowledge base, most frequent first), because the vote alone is unreliable on a short question.
 */
export function detectLanguage(text: string, held?: readonly Language[]): Language {
  return vote(text, split(text), held)
}

// Shared arrays, because this runs for every passage. Zero between calls.
const sizes = new Float64Array(scripts.length)
const votes = new Float64Array(languages.length)

function vote(text: string, pieces: readonly Piece[], held?: readonly Language[]): Language {
  sizes.fill(0)
  votes.fill(0)
  for (const { word, kind, start, end } of pieces) {
    if (word === undefined) {
      const run = text.slice(start, end)
      // A Han character carries about as much information as two and a half letters.
      sizes[scripts.indexOf(scriptOfRun(run))]! += (end - start) * (kind === HAN ? 2.5 : 1)
      if (kind === HAN && /[ぁ-ヿ]/.test(run)) votes[languages.indexOf('ja')]!++
    } else {
      sizes[word.scriptNumber]! += end - start
      for (const language of word.votes) votes[language]! += word.weight
    }
  }
  sizes[scripts.indexOf('other')] = 0
  const size = Math.max(...sizes)
  const script = size === 0 ? 'latin' : scripts[sizes.indexOf(size)]!
  const allowed = held?.filter((language) => scriptOf.get(language) === script) ?? []
  const candidates = allowed.length > 0 ? allowed : languagesOf[script]
  const votesFor = (language: Language): number => votes[languages.indexOf(language)]!
  return candidates.reduce((best, language) => (votesFor(language) > votesFor(best) ? language : best))
}

/**
 * Splits a text into search tokens. Pure, except for a word cache; about 20 µs for 330 characters of English.
 * `language` is the language, or candidates as in `detectLanguage`. Words of another script get the most likely language of that script.
 */
export function analyse(text: string, language?: Language | readonly Language[]): Analysis {
  const pieces = split(text)
  const chosen = typeof language === 'string' ? language : vote(text, pieces, language)
  const script = scriptOf.get(chosen)
  const tokens: Token[] = []
  const runs: Run[] = []
  for (const piece of pieces) {
    if (piece.word === undefined) cutRun(text, piece, tokens, runs)
    else {
      const word = piece.word
      const spoken = word.script === script ? chosen : languagesOf[word.script][0]!
      if (word.language !== spoken) settle(word, spoken)
      tokens.push({
        stem: word.stem,
        exact: word.exact,
        stop: word.stop,
        spaced: true,
        hash: word.hash,
        start: piece.start,
        end: piece.end,
      })
    }
  }
  return { language: chosen, tokens, runs }
}

const segmenters = new Map<Language, Intl.Segmenter>()

function segmenter(language: Language): Intl.Segmenter {
  let known = segmenters.get(language)
  if (known === undefined) {
    known = new Intl.Segmenter(language, { granularity: 'word' })
    segmenters.set(language, known)
  }
  return known
}

function cutRun(text: string, piece: Piece, tokens: Token[], runs: Run[]): void {
  const raw = text.slice(piece.start, piece.end)
  const run = lower(raw)
  const han = piece.kind === HAN
  const language: Language = han ? (/[ぁ-ヿ]/.test(run) ? 'ja' : 'zh') : languagesOf[scriptOfRun(run)][0]!
  // Offsets are exact if folding keeps lengths, which it does except for half-width Kana and ligatures.
  const place = (at: number): number =>
    piece.start + (run.length === raw.length ? at : Math.round((at * raw.length) / run.length))
  runs.push({ text: run, han })
  if (han) {
    const characters = [...run]
    for (let i = 0, at = 0; i + 1 < characters.length; at += characters[i]!.length, i++) {
      const pair = characters[i]! + characters[i + 1]!
      tokens.push({ stem: pair, exact: '', stop: false, spaced: false, hash: 0, start: place(at), end: place(at + pair.length) })
    }
  }
  const stops = stopWords(language)
  for (const { segment, index } of segmenter(language).segment(run)) {
    const stop = stops.has(segment) || !/[\p{L}\p{N}]/u.test(segment)
    tokens.push({
      stem: segment,
      exact: segment,
      stop,
      spaced: false,
      hash: 0,
      start: place(index),
      end: place(index + segment.length),
    })
  }
}

/** Returns the stem of a word in the first of these languages that has its script. */
export function stemAs(exact: string, held: readonly Language[]): string {
  const script = scriptOfRun(exact)
  return DIGIT.test(exact)
    ? exact
    : stem(exact, held.find((language) => scriptOf.get(language) === script) ?? languagesOf[script][0]!)
}

/** Returns the n-grams of a text, of words and of runs without spaces, as 16-bit hashes. Cheaper than `analyse`. */
export function gramHashes(text: string): Uint16Array {
  hashCount = 0
  let found = false
  scan(text, (kind, start, end) => {
    if (kind !== SPACED) pushHashes(runGrams({ text: lower(text.slice(start, end)), han: kind === HAN }).map(hashOf))
    else if (found && isPossessive(text, start, end)) return
    else if (!pushPlain(text, start, end)) {
      const word = wordAt(text, start, end)
      if (word.exact === '') return
      word.grams ??= Uint16Array.from(wordGrams(word.exact), hashOf)
      pushHashes(word.grams)
    }
    found = true
  })
  return hashes.slice(0, hashCount)
}

// Buffer for the current text.
let hashes = new Uint16Array(4_096)
let hashCount = 0

function pushHashes(more: ArrayLike<number>): void {
  makeRoom(more.length)
  hashes.set(more, hashCount)
  hashCount += more.length
}

function makeRoom(more: number): void {
  if (hashCount + more <= hashes.length) return
  const larger = new Uint16Array(2 * (hashCount + more))
  larger.set(hashes)
  hashes = larger
}

// An ASCII word with its boundary marks.
const letters = new Uint8Array(MAX_WORD + 2)

/** Adds what `wordGrams` and `hashOf` return for an ASCII word, directly from the text. Nearly all words are ASCII. Returns false for others. */
function pushPlain(text: string, start: number, end: number): boolean {
  const length = Math.min(end - start, MAX_WORD) + 2
  letters[0] = 0x5e // ^
  for (let i = 1; i + 1 < length; i++) {
    const unit = text.charCodeAt(start + i - 1)
    if (unit > 127) return false
    letters[i] = unit >= 65 && unit <= 90 ? unit | 32 : unit
  }
  letters[length - 1] = 0x24 // $
  makeRoom(length)
  if (length <= 4) hashes[hashCount++] = hashOfUnits(letters, 0, length)
  else for (let i = 0; i + 4 <= length; i++) hashes[hashCount++] = hashOfUnits(letters, i, i + 4)
  return true
}

/** Returns the stems of a text without stop words, or all stems if there are only stop words. */
export function contentStems(analysis: Analysis): string[] {
  const content = analysis.tokens.filter((token) => !token.stop)
  return (content.length > 0 ? content : analysis.tokens).map((token) => token.stem)
}
