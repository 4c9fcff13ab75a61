import type { Hit } from '../../core/retrieval.ts'
import { detectLanguage } from '../../text/analyse.ts'
import { unitsOf } from './units.ts'

const QUESTION_END = /[?？؟]$/u
const MARKS = /^[\s#>*+\-–•]+|^\d{1,3}[.)]\s+|[*_`]+/g
// What stands between the number of a chapter and its name.
const NUMBERED = /^(?:\d+(?:\.\d+)*|[IVX]+)[.):]?\s+/
/** Headings that name a part of a page rather than a subject. */
const NO_SUBJECT =
  /^(?:introduction|overview|summary|contents|table of contents|references|see also|notes?|examples?|usage|background|conclusion|appendix|license|licence|changelog|faq|frequently asked questions|more|other|details|general|description|next steps|context|decision|consequences|status|further reading|external links|history)$/i
const MAX_SUBJECT_WORDS = 7
// Words and no more: a heading with marks in it is a label or code.
const SUBJECT = /^\p{Lu}[\p{L}\p{N}' ’/&-]{3,}$/u
/** A heading that is a whole sentence names no subject either. */
const SENTENCE = /\s(?:is|are|was|were|has|have|can|may|must|will|does|do|stays?)\s/
// "Opening hours" are hours, and nothing that somebody opens.
const NOUN_OF_GERUND = /^\p{Lu}\p{Ll}+ing (?:hours|times|fees|costs|charges|rules|conditions|options|instructions|requirements)$/u
const GERUND = /^([A-Z][a-z]{2,}ing)\s+(.+)$/
/** Verbs that headings of instructions open with. */
const IMPERATIVES = new Set(
  (
    'access add allow analyse analyze apply ask assign attach avoid back backup build cancel change calculate check choose clean collect compare compute configure connect contact convert create customize customise debug define design develop ' +
    'delete deploy disable download edit embed enable enter evaluate export extend find fix get grant handle host implement import improve install integrate invite limit link list load ' +
    'log manage measure merge migrate modify monitor move open optimize order pay prepare prevent protect provide publish reduce register reinstall release remove rename ' +
    'renew replace report request reset resize restore restart retrieve return revoke rotate run save scale schedule search secure select send set share ship sign ' +
    'start stop store submit subscribe switch sync test track transfer troubleshoot turn understand uninstall update upgrade upload use validate verify view write'
  ).split(' '),
)
// "A widget is a …", "Hydraulics are the …": the sentence says what its subject is, and opens with it.
const DEFINITION =
  /^((?:The |An? )?[\p{L}\p{N}][\p{L}\p{N}'’-]*(?: (?!is\b|are\b|was\b|were\b)[\p{L}\p{N}'’-]+){0,4}) (is|are|was|were) (?:an? |the |one of )/u
const POINTING =
  /^(?:it|this|that|these|those|they|he|she|we|you|i|there|here|what|which|who|one|another|some|many|most|all|each|both|his|her|their|its|our|your|such|if|when|while|as|in|on|at|for|by|with|from|after|before|during|because|although|since|however|but|and|or|so|also|then|not|no|the (?:former|latter|first|second|third|last|following|above|next|other|same|result|reason|purpose|goal|idea|number|name|only|main|most|term))\b/i
// A verb, an adverb or a preposition in a subject means that it is longer than what was caught, or points back.
const NOT_IN_SUBJECT =
  /^(?:of|to|in|on|by|from|with|within|among|that|which|who|whether|has|have|had|can|will|and|or|de|as|for|at|about|given|example|previous|following|today|now|also|not|then|below|above|entire|\p{L}+ly)$/iu
const RUN_TOGETHER = /\p{Ll}\p{Lu}/u
const WORD = /[\p{L}\p{N}]+/gu

/**
 * Questions that a passage itself raises, best first; English ones are also made from headings and definitions. May be none. Each is made when it is asked for:
 * a passage may hold hundreds.
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
  for (const { kind, text } of lines) if (kind !== 'code' && kind !== 'row' && isQuestion(text)) yield text
  const headings = [
    ...lines.filter((line) => line.kind === 'heading').map((line) => line.text),
    ...hit.heading.split(' › ').reverse(),
    hit.title,
  ]
  yield* headings.filter(isQuestion)
  if (detectLanguage(hit.text) !== 'en') return
  const written = new Set(hit.text.match(WORD))
  for (const heading of headings) if (!isQuestion(heading)) yield* ofHeading(heading.replace(NUMBERED, '').trim(), written)
  for (const { kind, text } of lines) if (kind === 'sentence' || kind === 'item') yield* ofDefinition(text, written)
}

const clean = (text: string): string =>
  text
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(MARKS, '')
    .replace(/\s+/g, ' ')
    .trim()

/** One whole question, not one that ends a longer line, and of more than a word. */
function isQuestion(text: string): boolean {
  return (
    QUESTION_END.test(text) &&
    text.length >= 8 &&
    !/[.!?…"”»]\s/u.test(text) &&
    /^[\p{L}¿«"]/u.test(text) &&
    !/^(?:why|how|what|really|right|who|and|but|or)\s?\?$/i.test(text)
  )
}

/** "Install the client" → how; "Installing the client" → how; "Rate limits" → what about. */
function ofHeading(heading: string, written: ReadonlySet<string>): string[] {
  const words = heading.split(' ')
  if (words.length > MAX_SUBJECT_WORDS || NO_SUBJECT.test(heading) || !SUBJECT.test(heading) || SENTENCE.test(heading)) return []
  const how = /^how to (.+)$/i.exec(heading)
  if (how !== null) return [`How do I ${lowered(how[1]!, written)}?`]
  if (words.length === 1 && /ing$/.test(heading)) return [`How does ${heading.toLowerCase()} work?`]
  if (words.length === 1) return [`What should I know about ${lowered(heading, written)}?`]
  if (/^(?:and|or|of)$/i.test(words[1]!)) return []
  if (IMPERATIVES.has(words[0]!.toLowerCase())) return [`How do I ${words[0]!.toLowerCase()} ${words.slice(1).join(' ')}?`]
  if (NOUN_OF_GERUND.test(heading)) return [`What are the ${heading.toLowerCase()}?`]
  const gerund = GERUND.exec(heading)
  if (gerund !== null) {
    const verb = verbOf(gerund[1]!.toLowerCase())
    return verb === undefined ? [] : [`How do I ${verb} ${gerund[2]}?`]
  }
  return POINTING.test(heading) ? [] : [`What should I know about ${lowered(heading, written)}?`]
}

function ofDefinition(sentence: string, written: ReadonlySet<string>): string[] {
  const match = DEFINITION.exec(sentence)
  const name = match?.[1]
  if (name === undefined || POINTING.test(name)) return []
  const [article, ...rest] = /^(?:The|An?) /.test(name) ? name.split(' ') : ['', ...name.split(' ')]
  if (rest.some((word) => NOT_IN_SUBJECT.test(word) || RUN_TOGETHER.test(word)) || /^\p{L}+ing$/u.test(rest[0]!)) return []
  // "The conflict" is one that was spoken of before; "the Rhine" is a name.
  if (article === 'The' && !rest.some((word) => /^\p{Lu}/u.test(word))) return []
  const subject = article === '' ? lowered(name, written) : `${article!.toLowerCase()} ${rest.join(' ')}`
  return [`What ${match![2]} ${subject}?`]
}

function verbOf(gerund: string): string | undefined {
  const stem = gerund.slice(0, -3)
  return [stem, `${stem}e`, stem.slice(0, -1)].find((form) => IMPERATIVES.has(form))
}

/** With a small first letter where the passage, of which these are the words, writes that word so elsewhere: else it may be a name. */
function lowered(phrase: string, written: ReadonlySet<string>): string {
  const first = /^\p{Lu}\p{Ll}+(?![\p{L}'’])/u.exec(phrase)?.[0]
  if (first === undefined) return phrase
  const small = first.toLowerCase()
  return written.has(small) ? small + phrase.slice(first.length) : phrase
}
