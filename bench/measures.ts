// Standard measures of answers, comparable with published figures.

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu

/** Normalizes as SQuAD does: lower case, no punctuation, no English articles. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\p{P}\p{S}]/gu, '')
    .replace(/(?<![\p{L}\p{N}\p{M}])(?:a|an|the)(?![\p{L}\p{N}\p{M}])/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim()
}

/** Returns whether the text contains a gold answer: as whole words, or as characters in scripts without spaces. */
export function holdsAnswer(text: string, golds: readonly string[]): boolean {
  const said = plain(text)
  return golds.some((gold) => {
    const wanted = plain(gold)
    if (wanted === '') return false
    return wanted.search(UNSPACED) >= 0
      ? said.replaceAll(' ', '').includes(wanted.replaceAll(' ', ''))
      : ` ${said} `.includes(` ${wanted} `)
  })
}

/** Counts the words of a reply. In scripts without spaces, each character counts as a word. */
export const countWords = (text: string): number => plain(text).replace(UNSPACED, ' $& ').split(' ').filter(Boolean).length

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Nearest-rank percentile. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0

/** Returns the probability that a positive case scores above a negative one. Ties count half. */
export function auc(rows: readonly { positive: boolean; score: number }[]): number {
  const sorted = rows.toSorted((a, b) => a.score - b.score)
  const positives = rows.filter((row) => row.positive).length
  let ranks = 0
  for (let from = 0; from < sorted.length; ) {
    let to = from
    while (to < sorted.length && sorted[to]!.score === sorted[from]!.score) to++
    for (let at = from; at < to; at++) if (sorted[at]!.positive) ranks += (from + 1 + to) / 2
    from = to
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * (rows.length - positives))
}

/** Returns the mean of the accuracies among positive and negative cases. */
export function balancedAccuracy(rows: readonly { positive: boolean; score: number }[], threshold: number): number {
  const share = (of: readonly { positive: boolean; score: number }[]): number =>
    mean(of.map((row) => (row.score >= threshold === row.positive ? 1 : 0)))
  return (share(rows.filter((row) => row.positive)) + share(rows.filter((row) => !row.positive))) / 2
}
