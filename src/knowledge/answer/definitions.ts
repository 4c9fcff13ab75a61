import { analyse } from '../../text/analyse.ts'
import { wordAsked } from '../query/word-asked.ts'
import { type Places, type QuestionTerms, shareOf } from './question-terms.ts'

// English, German, French, Spanish, Italian, Portuguese, Dutch, Russian; in Japanese, the question words are at the end.
const ASKS =
  /(?:とは|って(?:何|なに|なん)|とは何)(?:ですか|でしょうか|のこと(?:ですか)?|か)?[\s?？。]*$|^[\s¿"'«]*(?:(?:so|and|ok|hi|hello),?\s+)?(?:what(?:['’]?s|\s+is|\s+are|\s+exactly\s+is)|was\s+(?:ist|sind)|qu['’]est[- ]ce\s+qu|c['’]est\s+quoi|qué\s+(?:es|son)|(?:che\s+)?cos['’]è|(?:o\s+)?que\s+(?:é|são)|wat\s+(?:is|zijn)|что\s+такое)(?!\p{L})/iu
/** "Was ist X" asks for a thing; "what is the limit of X" asks for one of its figures. */
const OF = /\s(?:of|for|in|on|with|from|by|von|für|im|in|mit|de|del|du|des|pour|para|para|da|do|van)\s/iu
const COPULA =
  /^[^\n]{1,100}?\s(?:is|are|was|were|ist|sind|bezeichnet|bedeutet|est|sont|es|son|è|sono|é|são|zijn|means)\s|^[^\n、。]{1,40}?(?:とは|は)[、\s]?(?=[^\n]*(?:です|である|のこと|だ|を指します|を指す|をいいます|といいます|を意味します)[。\s]*$)/iu
/** Words after the verb that do not begin a definition: "is deleted", "is for developers", "is not". English, German, French, Spanish. */
const NO_NOUN =
  /^(?:for|in|on|at|by|to|from|with|of|as|not|no longer|only|also|always|never|now|then|still|already|currently|available|\p{L}+(?:ed|ing)|done|made|kept|sent|set|shown|given|written|für|auf|bei|von|mit|nicht|nur|auch|immer|nie|ge\p{L}+(?:t|en)|pour|dans|sur|par|avec|pas|toujours|\p{L}+ée?s?|para|por|con|siempre|\p{L}+[ai]d[oa]s?)(?!\p{L})/iu
/** A glossary entry: "**NEPH**: number of …". */
const ENTRY = /^\W{0,3}(?:\*\*|__|`|["“«„])[^\n:：–—]{1,60}?\W{1,3}(?:\s[-–—]|\s?[:：])\s(?=\S)/u
/** Text between a name and its verb: "Hono (flame in Japanese) is". */
const ASIDE = /^([^\n,(–—]{1,60}?)(?:,\s[^\n,]{1,60},|\s\([^()\n]{1,60}\)|\s[-–—]\s[^\n–—]{1,60}?\s[-–—])(?=\s)/u
const WORD = /[\p{L}\p{N}]+/gu
/** Without an article it may be a state: "is free". Checked only in English, because only some languages use articles. */
const BARE = /^(?!an?\s|the\s|one\s|any\s|your\s|our\s|all\s|what\s|how\s|where\s|\W)[a-z]/u
const ENGLISH_VERB = /\s(?:is|are|was|were)\s$/iu
const BARE_COUNTS = 0.5
const ARTICLE = /^(?:the|an?|der|die|das|eine?|le|la|les|une?|el|los|las|una?)\s/iu
/** Most words of the subject that the question does not contain. */
const MOST_OTHER_WORDS = 2

/** True if the question asks what something is. */
export const isDefinitionAsked = (question: string): boolean =>
  wordAsked(question) !== undefined || (ASKS.test(question) && !OF.test(question))

/**
 * Returns 0 to 1: the sentence begins with the subject of the question and defines it. Less for a subject with more words: "the sample agent" is not any agent.
 * `places`: positions of the question's terms in the sentence.
 */
export function defines(asked: QuestionTerms, sentence: string, places: Places): number {
  const entry = ENTRY.exec(sentence)?.[0].match(WORD)?.length ?? 0
  if (entry > 0 && subjectShare(asked, places, entry) > 0.9 && othersIn(places, entry) === 0) return 1
  const plain = sentence.replace(ASIDE, '$1')
  const subject = COPULA.exec(plain)?.[0]
  if (subject === undefined || NO_NOUN.test(plain.slice(subject.length))) return 0
  const words = wordsBefore(subject)
  const others = othersIn(places, words) - (ARTICLE.test(subject) ? 1 : 0)
  if (subjectShare(asked, places, words) <= 0.9 || others > MOST_OTHER_WORDS) return 0
  const isBare = ENGLISH_VERB.test(subject) && BARE.test(plain.slice(subject.length))
  return (isBare ? BARE_COUNTS : 1) / (1 + Math.max(0, others))
}

/** Returns how many of the first `words` words the question does not contain. */
const othersIn = (places: Places, words: number): number =>
  words - new Set(places.map(({ word }) => word).filter((word) => word < words)).size
/** Returns the share of the question, by idf, in the first `words` words. */
const subjectShare = (asked: QuestionTerms, places: Places, words: number): number =>
  shareOf(
    asked,
    places.reduce((bits, { bit, word }) => (word < words ? bits | (1 << bit) : bits), 0),
  )

const JAPANESE = /(?:とは|は)[、\s]?$/u
/** Returns the number of words of a subject, without its verb or particle. */
const wordsBefore = (subject: string): number =>
  JAPANESE.test(subject)
    ? analyse(subject.replace(JAPANESE, ''), 'ja').tokens.filter(({ exact }) => exact !== '').length
    : subject.trim().split(/\s+/).length - 1
