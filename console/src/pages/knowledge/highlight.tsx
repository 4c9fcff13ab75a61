import { useMemo } from 'react'

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u
/** Stop words, which say nothing about the topic of a question. */
const EMPTY = new Set(
  'a an and are as at be by can could do does did for from had has have how i if in into is it its may me my of on or our so than that the their them they this to was we were what when where which who why will with would you your'.split(
    ' ',
  ),
)
const LEAST_STEM = 3

/** Returns a rough stem of a word: precise enough to highlight it in a passage. */
const stemOf = (word: string) => {
  const plain = word.toLocaleLowerCase().normalize('NFKD').replace(/\p{M}/gu, '').replace(/^ال/, '')
  const short = plain.replace(/(ingly|ings|ing|edly|ed|ies|es|s|e|y)$/, '')
  return short.length >= LEAST_STEM ? short : plain
}

function matcherOf(query: string): (word: string) => boolean {
  const words = query.match(WORD) ?? []
  const pieces = words.filter((word) => UNSPACED.test(word)).flatMap((word) => [...word].map((_, i) => word.slice(i, i + 2)))
  const runs = new Set(pieces.filter((piece) => piece.length === 2))
  const stems = new Set(words.filter((word) => !EMPTY.has(word.toLocaleLowerCase())).map(stemOf))
  return (word) => (UNSPACED.test(word) ? [...runs].some((run) => word.includes(run)) : stems.has(stemOf(word)))
}

interface HighlightProps {
  text: string
  /** Its words are marked in any form. */
  query?: string
  /** Marked only as an exact match. */
  phrase?: string
}

/** Marks the search terms in a text. */
export function Highlight({ text, query, phrase }: HighlightProps) {
  const parts = useMemo(
    () => (phrase === undefined ? splitByWords(text, matcherOf(query ?? '')) : splitByPhrase(text, phrase)),
    [text, query, phrase],
  )
  return parts.map(({ at, part, isMarked }) => (isMarked ? <mark key={at}>{part}</mark> : part))
}

interface Part {
  at: number
  part: string
  isMarked: boolean
}

function splitByWords(text: string, matches: (word: string) => boolean): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!matches(word)) continue
    parts.push({ at: end, part: text.slice(end, index), isMarked: false }, { at: index, part: word, isMarked: true })
    end = index + word.length
  }
  return [...parts, { at: end, part: text.slice(end), isMarked: false }]
}

function splitByPhrase(text: string, phrase: string): Part[] {
  const at = text.indexOf(phrase)
  if (at === -1) return [{ at: 0, part: text, isMarked: false }]
  const end = at + phrase.length
  return [
    { at: 0, part: text.slice(0, at), isMarked: false },
    { at, part: phrase, isMarked: true },
    { at: end, part: text.slice(end), isMarked: false },
  ]
}
