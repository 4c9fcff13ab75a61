import { splitHeadings } from '../../core/headings.ts'
import type { Hit } from '../../core/ports/retrieval.ts'
import { detectLanguage } from '../../text/analyse.ts'
import { cleanQuestion, lowered, questionOf } from './heading-questions.ts'
import { unitsOf } from './units.ts'

const QUESTION_END = /[?？؟]$/u
const MARKS = /^[\s#>*+\-–•]+|^\d{1,3}[.)]\s+|[*_`]+/g
// "A widget is a …", "Hydraulics are the …": a sentence that begins with its subject and defines it.
const DEFINITION =
  /^((?:The |An? )?[\p{L}\p{N}][\p{L}\p{N}'’-]*(?: (?!is\b|are\b|was\b|were\b)[\p{L}\p{N}'’-]+){0,4}) (is|are|was|were) (?:an? |the |one of )/u
const POINTING =
  /^(?:it|this|that|these|those|they|he|she|we|you|i|there|here|what|which|who|one|another|some|many|most|all|each|both|his|her|their|its|our|your|such|if|when|while|as|in|on|at|for|by|with|from|after|before|during|because|although|since|however|but|and|or|so|also|then|not|no|the (?:former|latter|first|second|third|last|following|above|next|other|same|result|reason|purpose|goal|idea|number|name|only|main|most|term))\b/i
// With a verb, an adverb or a preposition in it, the matched subject is incomplete or refers to text before it.
const NOT_IN_SUBJECT =
  /^(?:of|to|in|on|by|from|with|within|among|that|which|who|whether|has|have|had|can|will|and|or|de|as|for|at|about|given|example|previous|following|today|now|also|not|then|below|above|entire|\p{L}+ly)$/iu
const RUN_TOGETHER = /\p{Ll}\p{Lu}/u
const WORD = /[\p{L}\p{N}]+/gu

/**
 * Yields questions that a passage raises, best first: from its headings, and in English also from definitions. May be none.
 * Creates each question on demand, because a passage may have hundreds.
 */
export function* phraseQuestions(hit: Hit): Generator<string> {
  const made = new Set<string>()
  for (const question of allQuestions(hit)) {
    if (made.has(question)) continue
    made.add(question)
    yield question
  }
}

function* allQuestions(hit: Hit): Generator<string> {
  const lines = unitsOf(hit.text).map((unit) => ({ kind: unit.kind, text: clean(hit.text.slice(unit.start, unit.end)) }))
  const language = detectLanguage(hit.text)
  const written = new Set(hit.text.match(WORD))
  const headings = [
    ...lines.filter((line) => line.kind === 'heading').map((line) => line.text),
    ...splitHeadings(hit.heading).reverse(),
    hit.title,
  ]
  for (const heading of headings) {
    const question = isQuestion(heading) ? cleanQuestion(heading, language, written) : questionOf(heading, language, written)
    if (question !== undefined) yield question
  }
  if (language !== 'en') return
  for (const { kind, text } of lines) if (kind === 'sentence' || kind === 'item') yield* ofDefinition(text, written)
}

const clean = (text: string): string =>
  text
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(MARKS, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Returns true for one whole question of more than one word, not for a longer line that ends with a question. */
function isQuestion(text: string): boolean {
  return (
    QUESTION_END.test(text) &&
    text.length >= 8 &&
    !/[.!?…"”»]\s/u.test(text) &&
    /^[\p{L}¿«"]/u.test(text) &&
    !/^(?:why|how|what|really|right|who|and|but|or)\s?\?$/i.test(text)
  )
}

function ofDefinition(sentence: string, written: ReadonlySet<string>): string[] {
  const match = DEFINITION.exec(sentence)
  const name = match?.[1]
  if (name === undefined || POINTING.test(name)) return []
  const [article, ...rest] = /^(?:The|An?) /.test(name) ? name.split(' ') : ['', ...name.split(' ')]
  if (rest.some((word) => NOT_IN_SUBJECT.test(word) || RUN_TOGETHER.test(word)) || /^\p{L}+ing$/u.test(rest[0]!)) return []
  // "The conflict" was mentioned before; "the Rhine" is a name.
  if (article === 'The' && !rest.some((word) => /^\p{Lu}/u.test(word))) return []
  const subject = article === '' ? lowered(name, written) : `${article!.toLowerCase()} ${rest.join(' ')}`
  return [`What ${match![2]} ${subject}?`]
}
