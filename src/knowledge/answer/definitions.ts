import type { Places } from './features.ts'
import { type QuestionTerms, shareOf } from './question-terms.ts'

// English, German, French, Spanish, Italian, Portuguese, Dutch, Russian; Japanese asks at the end.
const ASKS =
  /(?:とは|って(?:何|なに|なん)|とは何)(?:ですか|でしょうか|のこと(?:ですか)?|か)?[\s?？。]*$|^[\s¿"'«]*(?:(?:so|and|ok|hi|hello),?\s+)?(?:what(?:['’]?s|\s+is|\s+are|\s+exactly\s+is)|was\s+(?:ist|sind|bedeutet|heißt)|qu['’]est[- ]ce\s+qu|c['’]est\s+quoi|qué\s+(?:es|son)|(?:che\s+)?cos['’]è|(?:o\s+)?que\s+(?:é|são)|wat\s+(?:is|zijn)|что\s+такое|what\s+does\s+.{2,60}?\s+mean\W*$|que\s+(?:signifie|veut\s+dire)|qué\s+significa)(?!\p{L})/iu
/** "Was ist X" asks for a thing, "what is the limit of X" for one of its figures. */
const OF = /\s(?:of|for|in|on|with|from|by|von|für|im|in|mit|de|del|du|des|pour|para|para|da|do|van)\s/iu
const COPULA =
  /^[^\n]{1,100}?\s(?:is|are|was|were|ist|sind|bezeichnet|bedeutet|est|sont|es|son|è|sono|é|são|zijn|means)\s|^[^\n、。]{1,40}?(?:とは|は)[、\s]?(?=[^\n]*(?:です|である|のこと|だ)[。\s]*$)/iu
/** Words after the verb that begin no definition: "is deleted", "is for developers", "is not". English, German, French, Spanish. */
const NO_NOUN =
  /^(?:for|in|on|at|by|to|from|with|of|as|not|no longer|only|also|always|never|now|then|still|already|currently|available|\p{L}+(?:ed|ing)|done|made|kept|sent|set|shown|given|written|für|auf|bei|von|mit|nicht|nur|auch|immer|nie|ge\p{L}+(?:t|en)|pour|dans|sur|par|avec|pas|toujours|\p{L}+ée?s?|para|por|con|siempre|\p{L}+[ai]d[oa]s?)(?!\p{L})/iu
/** Without an article it may be a state: "is free". Languages of which only some use one are not judged by it. */
const BARE = /^(?!an?\s|the\s|one\s|any\s|your\s|our\s|all\s|what\s|how\s|where\s|\W)[a-z]/u
const ENGLISH_VERB = /\s(?:is|are|was|were)\s$/iu
const BARE_COUNTS = 0.5
const ARTICLE = /^(?:the|an?|der|die|das|eine?|le|la|les|une?|el|los|las|una?)\s/iu
/** Words of the subject that the question does not have. */
const MOST_OTHER_WORDS = 2

/** The question asks what something is. */
export const isDefinitionAsked = (question: string): boolean => ASKS.test(question) && !OF.test(question)

/**
 * Returns 0 to 1: the sentence begins with what the question is about, and says what that is. Less for a subject with further words: "the sample agent" is not any
 * agent. `places`: of the question's terms in it.
 */
export function defines(asked: QuestionTerms, sentence: string, places: Places): number {
  const subject = COPULA.exec(sentence)?.[0]
  if (subject === undefined || NO_NOUN.test(sentence.slice(subject.length))) return 0
  const words = subject.trim().split(/\s+/).length - 1
  const within = places.filter(({ word }) => word < words)
  const mask = within.reduce((bits, { bit }) => bits | (1 << bit), 0)
  const others = words - within.length - (ARTICLE.test(subject) ? 1 : 0)
  if (shareOf(asked, mask) <= 0.9 || others > MOST_OTHER_WORDS) return 0
  const isBare = ENGLISH_VERB.test(subject) && BARE.test(sentence.slice(subject.length))
  return (isBare ? BARE_COUNTS : 1) / (1 + Math.max(0, others))
}
