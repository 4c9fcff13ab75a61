import type { Language } from '../../text/languages.ts'

const MAX_WORDS = 9
/** The number or letter before a section name. */
const NUMBERED = /^(?:(?:\d+(?:\.\d+)*|[IVX]+)[.):]?|[A-Za-z][.)])\s+/
/** Only words: a heading with other marks is a label or code. */
const PLAIN = /^\p{Lu}[\p{L}\p{N}' ’/&-]{3,}$/u
const PREFIX = /^(?:Q(?:uestion)?|Frage|FAQ|P(?:regunta)?)\s?[.:)]\s*/u
/** The beginning of a question to a product. "Still not sure?" and "Want to know more?" are not such questions. */
const ENGLISH_QUESTION =
  /^(?:what|who|whom|whose|when|where|why|how|which|can|could|do|does|did|is|are|was|were|will|would|should|may|must|has|have|if|i|i['’]ve|my)\b/i
/** Questions to the reader, not to the product. */
const ASKS_THE_READER = /\b(?:are|do|did|have|will|would|can) you (?:feel|think|want|like|need|ready|inspired|looking|using)\b/i

/** A pronoun for the subject of the page. The question is unclear without the page. */
const POINTS =
  /^(?:how|what|where|when|why|who|which)?\W*\b(?:does|do|is|are|was|will|can|should|has) (?:it|this|that|these|those|they)\b(?! (?:cost|take|possible|safe|free|legal|allowed|necessary))/i

/** Verbs at the beginning of instruction headings. */
const VERBS = new Set(
  (
    'add allow analyse analyze apply ask assign attach avoid build calculate cancel choose clean collect compute configure connect convert create customise customize ' +
    'define delete deploy disable download edit embed enable enter evaluate extend find fix get grant handle implement improve install integrate invite make manage merge ' +
    'modify open optimise optimize prepare prevent protect provide publish reduce register reinstall remove rename renew replace resize restore retrieve revoke ' +
    'rotate secure select send submit subscribe switch troubleshoot understand uninstall use validate verify write'
  ).split(' '),
)
/** Verbs that are mostly nouns in a heading: "Log details", "Access control". They need an article after them. */
const NOUNS_TOO = new Set(
  (
    'access backup change check compare contact debug design display export host import limit link list load log measure monitor move order pay plan process record release report ' +
    'request reset restart return review run save scale schedule search set share ship show sign start stop store sync test track transfer turn update upgrade upload view'
  ).split(' '),
)
const ARTICLE = /^(?:an?|the|your|my|our|this|all|multiple|several|new|more|two)$/i
const ENDS_OPEN = /\s(?:to|of|for|in|on|with|by|from|and|or|as|at)$/i
/** A gerund in a noun phrase: "Opening hours" are hours, not something that a user opens. */
const NOUN_OF_GERUND = /^\p{Lu}\p{Ll}+ing (?:hours|times|fees|costs|charges|rules|conditions|options|instructions|requirements)$/u
const SMALL_WORDS = new Set(
  'a an and are as at by can do does for from has have how i in is it my of on or our that the to was what when where which who why will with you your'.split(
    ' ',
  ),
)

/** Languages in which an instruction heading begins with an infinitive, and "how" before it makes a question. */
const INFINITIVES: Partial<Record<Language, { heading: RegExp; ask: (heading: string) => string }>> = {
  fr: {
    heading: /^\p{Lu}\p{Ll}*(?:er|ir|re)\s(?:une?|les?|la|l['’]|son|sa|ses|mon|ma|mes|des|du|de\s|d['’]|à|au)/u,
    ask: (heading) => `Comment ${heading} ?`,
  },
  es: { heading: /^\p{Lu}\p{Ll}*(?:ar|er|ir)\s(?:una?|el|l[ao]s?|sus?|tus?|mis?)\s/u, ask: (heading) => `¿Cómo ${heading}?` },
  it: { heading: /^\p{Lu}\p{Ll}*(?:are|ere|ire)\s(?:un[ao]?|il|l[aoe]|i|gli|l['’])/u, ask: (heading) => `Come ${heading}?` },
  pt: { heading: /^\p{Lu}\p{Ll}*(?:ar|er|ir)\s(?:uma?|[ao]s?|seus?|suas?)\s/u, ask: (heading) => `Como ${heading}?` },
}
/** In German, the infinitive comes last: "Das Passwort ändern". */
const GERMAN = /^(?:(?:das|die|den|ein|eine|einen|mein|meine|meinen)\s)[\p{L}\p{N} -]{3,40}\s\p{Ll}+(?:en|ern|eln)$/iu
const JAPANESE = /^[^、。？?！!\s]{2,30}(?:する|[えけげせてねべめれ]る|[うくぐすつぬぶむる])$/u

/**
 * Returns the question that a heading answers, in a user's words: "Install the client" → "How do I install the client?". Undefined for headings that only name
 * a subject, because the question is unknown. `written`: the words of the passage, in the passage's own case.
 */
export function questionOf(heading: string, language: Language, written: ReadonlySet<string>): string | undefined {
  const name = heading.replace(NUMBERED, '').trim()
  if (language === 'ja') return JAPANESE.test(name) ? `${name}には？` : undefined
  if (!PLAIN.test(name) || name.split(' ').length > MAX_WORDS || ENDS_OPEN.test(name)) return undefined
  if (language === 'en') return ofEnglish(name, written)
  if (language === 'de') return GERMAN.test(name) ? `Wie kann ich ${name[0]!.toLowerCase()}${name.slice(1)}?` : undefined
  const infinitive = INFINITIVES[language]
  return infinitive?.heading.test(name) === true ? infinitive.ask(name[0]!.toLowerCase() + name.slice(1)) : undefined
}

/** Returns a heading that is a question, in a user's words; undefined if no user would ask it. */
export function cleanQuestion(heading: string, language: Language, written: ReadonlySet<string>): string | undefined {
  const question = heading.replace(NUMBERED, '').replace(PREFIX, '')
  if (language !== 'en') return question
  if (!ENGLISH_QUESTION.test(question) || ASKS_THE_READER.test(question) || POINTS.test(question)) return undefined
  return isTitleCase(question) ? sentenceCase(question, written) : question
}

function ofEnglish(heading: string, written: ReadonlySet<string>): string | undefined {
  if (NOUN_OF_GERUND.test(heading)) return `What are the ${heading.toLowerCase()}?`
  const how = /^how to (.+)$/i.exec(heading)?.[1]
  const [first, ...others] = (how ?? heading).split(' ')
  const verb = how === undefined ? verbOf(first!, others[0]) : first!.toLowerCase()
  if (verb === undefined || others.length === 0 || /^(?:of|for|and|or)$/i.test(others[0]!)) return undefined
  const rest = sentenceCase(others.join(' '), written)
    .replace(/\byour\b/gi, 'my')
    .replace(/\byourself\b/gi, 'myself')
  return /\b(?:you|we|us|our)\b|&/i.test(rest) ? undefined : `How do I ${verb} ${rest}?`
}

/** Returns the verb at the beginning of an instruction, for example "install" for "Install" and "Installing". */
function verbOf(word: string, next: string | undefined): string | undefined {
  const small = word.toLowerCase()
  const isArticle = next !== undefined && ARTICLE.test(next)
  const forms = small.endsWith('ing') ? [small.slice(0, -3), `${small.slice(0, -3)}e`, small.slice(0, -4)] : [small]
  return forms.find((form) => VERBS.has(form) || (isArticle && NOUNS_TOO.has(form)))
}

const isTitleCase = (text: string): boolean => {
  const words = text
    .split(' ')
    .slice(1)
    .filter((word) => word.length > 3)
  return words.length > 0 && words.filter((word) => /^\p{Lu}\p{Ll}/u.test(word)).length / words.length > 0.5
}

/** Lowercases common words, and words that the passage writes in lowercase elsewhere. Other words may be names. */
const sentenceCase = (text: string, written: ReadonlySet<string>): string =>
  text
    .split(' ')
    .map((word, at) => (at === 0 && /^\p{Lu}/u.test(word) && text.endsWith('?') ? word : lowered(word, written)))
    .join(' ')

/** Lowercases the first letter if the word is common, or in lowercase elsewhere in the passage. `written`: the words of the passage. */
export function lowered(phrase: string, written: ReadonlySet<string>): string {
  const first = /^\p{Lu}\p{Ll}*(?![\p{L}'’])/u.exec(phrase)?.[0]
  if (first === undefined) return phrase
  const small = first.toLowerCase()
  return written.has(small) || (SMALL_WORDS.has(small) && small !== 'i') ? small + phrase.slice(first.length) : phrase
}
