import { existsSync, readFileSync } from 'node:fs'
import { analyse, type Language, type Token } from './analyse.ts'

/** A word or phrase of a question, and its synonyms. */
export interface Synonyms {
  /** Without stop words. */
  stems: string[]
  /** The stems of each synonym, without stop words. */
  alternatives: string[][]
}

/** A term of the thesaurus, which may be a phrase. */
interface Term {
  /** Stems of all its words, including stop words. */
  sequence: string[]
  /** Without stop words. */
  stems: string[]
}

interface Entry {
  term: Term
  group: readonly Term[]
}

/** By the stem of the first word. */
type Thesaurus = Map<string, Entry[]>

/** A longer question has enough words without synonyms. */
const MOST_WORDS = 64

const FOLDER = new URL('../../thesaurus/', import.meta.url)
const loaded = new Map<Language, Thesaurus | undefined>()

/** Returns the synonyms of the words and phrases in a question's tokens, analysed in `language`. Empty if the language has no thesaurus. */
export function synonymsIn(tokens: readonly Token[], language: Language): Synonyms[] {
  const thesaurus = thesaurusOf(language)
  if (thesaurus === undefined) return []
  const words = tokens.filter(({ exact }) => exact !== '')
  if (words.length > MOST_WORDS) return []
  return words.flatMap((_, at) =>
    (thesaurus.get(words[at]!.stem) ?? [])
      .filter(({ term }) => isAt(words, at, term))
      .map(({ term, group }) => ({
        stems: term.stems,
        alternatives: group.filter((other) => other !== term).map(({ stems }) => stems),
      })),
  )
}

const isAt = (words: readonly Token[], at: number, { sequence }: Term): boolean =>
  sequence.every((stem, i) => words[at + i]?.stem === stem)

function thesaurusOf(language: Language): Thesaurus | undefined {
  if (!loaded.has(language)) loaded.set(language, load(language))
  return loaded.get(language)
}

function load(language: Language): Thesaurus | undefined {
  const file = new URL(`${language}.txt`, FOLDER)
  if (!existsSync(file)) return undefined
  const thesaurus: Thesaurus = new Map()
  for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    if (line.startsWith('#')) continue
    const group = line.split(', ').map((text) => toTerm(text, language))
    for (const term of group) {
      const entries = thesaurus.get(term.sequence[0]!) ?? []
      thesaurus.set(term.sequence[0]!, entries)
      entries.push({ term, group })
    }
  }
  return thesaurus
}

function toTerm(text: string, language: Language): Term {
  const { tokens } = analyse(text, language)
  const telling = tokens.filter(({ stop }) => !stop)
  const stemsOf = (some: readonly Token[]) => some.map(({ stem }) => stem)
  return { sequence: stemsOf(tokens), stems: stemsOf(telling.length > 0 ? telling : tokens) }
}
