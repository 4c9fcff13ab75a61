/** A span of a text, as UTF-16 offsets. */
export interface TextSpan {
  start: number
  end: number
}

// The locale hardly matters for sentences. One lazy segmenter, because creating one costs more than segmenting a page of text.
let made: Intl.Segmenter | undefined
const segmenter = () => (made ??= new Intl.Segmenter('en', { granularity: 'sentence' }))

// Abbreviations that end in a full stop within a sentence, lower case, by language.
const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof sr jr st mt ft gen col lt sgt capt cmdr rev hon gov sen rep pres fr messrs ' +
    'no nos vol vols fig figs eq eqs pp p ch sec sect art approx ca cca c vs v cf viz al ed eds trans dept univ e.g i.e eg ie ' +
    'jan feb mar apr jun jul aug sep sept oct nov dec ' +
    'z.b d.h u.a bzw engl frz lat ital span usw min max mind nr bd hrsg vgl sog abb abs str ggf evtl inkl ' +
    'sra srta ud uds dña av avda núm pág mme mlle m dra nº ' +
    'т.е т.д т.п г гг в вв им ул стр рис см др тыс млн млрд руб акад проф ' +
    'nşr bkz örn yy tp ths gs ts dl π.χ κ δρ σελ'
  ).split(' '),
)
/** Single lower-case letters with full stops, and a short word with one, up to any of the stops: "z. B.", "i. d. R.", "p. ej.", "т. е.". */
const SPACED_ABBREVIATION = /(?:^|[\s([“"'«—-])(?:\p{Ll}\.\s?){1,4}(?:\p{L}{1,3}\.)?\s*$/u
// A full stop after an initial, a number or a country code may end the sentence. Before these words it does.
const STARTERS =
  /^(?:the|an?|in|on|at|it|its|he|she|they|we|you|this|that|these|those|there|but|and|if|when|as|for|to|die|der|das|ein|eine|es|er|sie|im|el|la|los|las|un|una|en|le|les|il|elle|в|на|он|она|это)(?![\p{L}\p{M}])/iu
const LAST_WORD = /(?:^|[\s([“"'«—-])([\p{L}\p{M}\p{N}º]+(?:\.[\p{L}\p{M}]+)*)\.\s*$/u
const UNSTOPPED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
// Thai and Lao put a space between clauses and no stop at the end. A "sentence" of theirs is clauses of about this length.
const CLAUSE_CHARS = 140
// Spaces also surround numbers, foreign words and signs. A clause continues there, up to this length.
const MAX_CLAUSE_CHARS = 280
const BETWEEN_CLAUSES = /^[\p{L}\p{M}\p{Pe}] [\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
// A line break after a shorter line is intended (verse, addresses, lists without marks). After a longer line the text was wrapped.
const WRAPPED_CHARS = 45
const LINE = /[^\n]*\n?/g
/** Marks inside these end no sentence: code, link targets, URLs, and the marks of callouts and images. */
const MASKED = /`[^`\n]+`|\]\([^()\n]*\)|\bhttps?:\/\/[^\s<>"'`|()]+[^\s<>"'`|()\].,;:!?*_]|\[![a-z]+\]|!(?=\[)/gi
const MASKING = /[`!]|\]\(|:\/\//
/** Georgian writes names and sentence starts in lower case. */
const SMALL_START = /^[\p{Pi}\p{Ps}"'*_]*(?!\p{Script=Georgian})\p{Ll}/u
const OPENING = /[\p{Ps}\p{Pi}]$/u

/**
 * Returns the sentences of a text in order, without surrounding white space. They cover all letters of the text, in any script.
 * A blank line and the end of a short line end a sentence. Takes linear time.
 */
export function sentences(text: string): TextSpan[] {
  const prose = masked(unwrapped(text))
  const spans: TextSpan[] = []
  let start = 0
  for (const { segment, index } of segmenter().segment(prose)) {
    const end = index + segment.length
    if (end < prose.length && readsOn(segment, prose, end)) continue
    // The segmenter leaves an opening bracket or quotation mark of the next sentence in the one before.
    const cut = end < prose.length && OPENING.test(segment) ? end - 1 : end
    push(spans, prose, start, cut)
    start = cut
  }
  return spans
}

/** Replaces line ends in wrapped paragraphs by spaces, so that only intended line ends remain. Offsets stay valid. */
function unwrapped(text: string): string {
  if (!text.includes('\n')) return text
  return text.replace(LINE, (line) =>
    line.endsWith('\n') && line.trimEnd().length >= WRAPPED_CHARS ? `${line.slice(0, -1)} ` : line,
  )
}

/** Replaces text that ends no sentence by letters. Offsets stay valid. */
const masked = (text: string): string => (MASKING.test(text) ? text.replace(MASKED, (part) => 'x'.repeat(part.length)) : text)

function readsOn(segment: string, prose: string, next: number): boolean {
  if (segment.endsWith('\n')) return false
  if (SMALL_START.test(prose.slice(next, next + 8))) return true
  if (!segment.trimEnd().endsWith('.')) return false
  if (UNSTOPPED.test(segment.trimEnd().slice(-3))) return true
  const end = segment.slice(-24)
  if (SPACED_ABBREVIATION.test(end)) return true
  const word = LAST_WORD.exec(end)?.[1]
  if (word === undefined) return false
  if (ABBREVIATIONS.has(word.toLowerCase())) return true
  const mayEnd = /^(?:\p{Lu}(?:\.\p{Lu})*|\d{1,2})$/u.test(word)
  return mayEnd && !STARTERS.test(prose.slice(next, next + 12))
}

function push(spans: TextSpan[], text: string, from: number, to: number): void {
  const piece = text.slice(from, to)
  const end = from + piece.trimEnd().length
  let start = to - piece.trimStart().length
  if (end <= start) return
  if (UNSTOPPED.test(piece)) {
    for (let at = start; at < end; at++) {
      if (text[at] !== ' ' || at - start < CLAUSE_CHARS) continue
      if (at - start < MAX_CLAUSE_CHARS && !BETWEEN_CLAUSES.test(text.slice(at - 1, at + 2))) continue
      spans.push({ start, end: at })
      start = at + 1
    }
  }
  spans.push({ start, end })
}
