import type { Places } from './features.ts'
import { type QuestionTerms, shareOf } from './question-terms.ts'

// English, German, French, Spanish, Italian, Portuguese, Dutch, Russian.
const ASKS =
  /^[\s¿"'«]*(?:(?:so|and|ok|hi|hello),?\s+)?(?:what(?:['’]s|\s+is|\s+are|\s+exactly\s+is)|was\s+(?:ist|sind|bedeutet|heißt)|qu['’]est[- ]ce\s+qu|c['’]est\s+quoi|qué\s+(?:es|son)|(?:che\s+)?cos['’]è|(?:o\s+)?que\s+(?:é|são)|wat\s+(?:is|zijn)|что\s+такое)(?!\p{L})/iu
/** "Was ist X" asks for a thing, "what is the limit of X" for one of its figures. */
const OF = /\s(?:of|for|in|on|with|from|by|von|für|im|in|mit|de|del|du|des|pour|para|para|da|do|van)\s/iu
const COPULA = /^[^\n]{1,100}?\s(?:is|are|was|were|ist|sind|bezeichnet|bedeutet|est|sont|es|son|è|sono|é|são|zijn|means)\s/iu
/** Words of the subject that the question does not have. */
const MOST_OTHER_WORDS = 3

/** The question asks what something is. */
export const isDefinitionAsked = (question: string): boolean => ASKS.test(question) && !OF.test(question)

/** The sentence begins with what the question is about, and says what that is. `places`: of the question's terms in it. */
export function defines(asked: QuestionTerms, sentence: string, places: Places): boolean {
  const subject = COPULA.exec(sentence)?.[0]
  if (subject === undefined) return false
  const words = subject.trim().split(/\s+/).length - 1
  const within = places.filter(({ word }) => word < words)
  const mask = within.reduce((bits, { bit }) => bits | (1 << bit), 0)
  return shareOf(asked, mask) > 0.9 && words - within.length <= MOST_OTHER_WORDS
}
