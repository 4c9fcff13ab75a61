/** Questions, with single spaces, that ask for the meaning of a word. */
const ASKS_FOR_MEANING = [
  /^[¿"'« ]*what does (.{2,60}?) (?:mean|stand for)\W*$/iu,
  /^[¿"'« ]*(?:was (?:bedeutet|heißt)|que (?:signifie|veut dire)|qu['’]est[- ]ce que signifie|qué significa|(?:che )?cosa significa|o que significa|wat betekent) (.{2,60}?)\W*$/iu,
]
/** A longer question asks for more than a meaning. */
const MOST_CHARS = 120

/** Returns the word whose meaning a question asks for: `NEPH` of "What does NEPH mean?". Undefined for other questions. */
export function wordAsked(question: string): string | undefined {
  if (question.length > MOST_CHARS) return undefined
  const text = question.replace(/\s+/g, ' ')
  return ASKS_FOR_MEANING.map((asks) => asks.exec(text)?.[1]).find((word) => word !== undefined)
}
