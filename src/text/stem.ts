import { createRequire } from 'node:module'
import { fold } from './fold.ts'
import type { Language } from './languages.ts'

type Stemmer = (word: string) => string

/** Names of the Snowball stemmers in the package. */
const PACKAGED: Partial<Record<Language, string>> = {
  ar: 'arabic',
  bg: 'bulgarian',
  da: 'danish',
  de: 'german',
  el: 'greek',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  hi: 'indian',
  hu: 'hungarian',
  id: 'indonesian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sv: 'swedish',
  tr: 'turkish',
  uk: 'ukrainian',
}

/** Endings to cut off for languages without a stemmer, longest first. At least `least` letters remain (one syllable in Korean). */
const ENDINGS: Partial<Record<Language, { least: number; endings: RegExp }>> = {
  pl: { least: 3, endings: /(?:owaniem|owania|owanie|ościami|owego|owych|owymi|ością|ości|ami|ach|ego|emu|ych|ymi|ich|imi|iem|owi|ów|om|ej|ym|im|ie|ia|ą|ę|a|e|i|o|u|y)$/ },
  cs: { least: 3, endings: /(?:ového|ovými|ových|ostmi|osti|ami|emi|ech|ách|ého|ému|ých|ými|ovi|ové|ova|ům|em|ou|ím|ých|é|ý|á|í|a|e|i|o|u|y|ů|ě)$/ },
  ko: { least: 1, endings: /(?:이라는|에서는|으로는|에서의|으로서|으로써|에게서|이라고|에서|으로|에게|까지|부터|에는|에도|이나|이며|이다|라는|라고|처럼|보다|하는|하고|했다|들은|들이|들을|들의|은|는|이|가|을|를|의|에|로|와|과|도|만|나|들)$/ },
  fa: { least: 3, endings: /(?:هایی|های|ها|ترین|تر|ان|ات)$/ },
  he: { least: 3, endings: /(?:ים|ות|יה|ית)$/ },
} // biome-ignore format: a table

const require = createRequire(import.meta.url)
const loaded = new Map<Language, Stemmer>()

// Loads a stemmer synchronously on the first word of its language, so that a service with one language does not load twenty.
function load(language: Language): Stemmer {
  const name = PACKAGED[language]
  if (name !== undefined) return (require(`@orama/stemmers/${name}`) as { stemmer: Stemmer }).stemmer
  const rule = ENDINGS[language]
  if (rule === undefined) return (word) => word
  return (word) => {
    const end = word.search(rule.endings)
    return end >= rule.least ? word.slice(0, end) : word
  }
}

/** Returns the folded stem of a lower-case word. Never empty for a non-empty word, even if the stemmer fails on odd input. */
export function stem(word: string, language: Language): string {
  let stemmer = loaded.get(language)
  if (stemmer === undefined) {
    stemmer = load(language)
    loaded.set(language, stemmer)
  }
  return fold(stemmer(word)) || fold(word)
}
