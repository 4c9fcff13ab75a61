import { textsOf } from '../texts/define.ts'

/** Retrieval methods, in the order in which they run. */
const names = {
  terms: 'Words',
  ngrams: 'Pieces',
  proximity: 'Nearness',
  alike: 'Alike',
  cosine: 'Meaning',
  rerank: 'Rerank',
}

const useNames = textsOf(names, {
  ar: {
    terms: 'الكلمات',
    ngrams: 'الأجزاء',
    proximity: 'القرب',
    alike: 'التشابه',
    cosine: 'المعنى',
    rerank: 'الترتيب',
  },
})

interface Scored {
  scores: Record<string, number>
}

/** The methods that any of the passages has a score for, with their names. Unknown methods of a newer service come last. */
export function useMethods(passages: readonly Scored[]): { id: string; name: string }[] {
  const named: Record<string, string> = useNames()
  return [...new Set([...Object.keys(names), ...passages.flatMap(({ scores }) => Object.keys(scores))])]
    .filter((id) => passages.some(({ scores }) => id in scores))
    .map((id) => ({ id, name: named[id] ?? id }))
}
