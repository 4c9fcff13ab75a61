import type { Item } from './base.ts'

/** The most frequent words of texts, in order of frequency. Most are useless for a search. */
const FREQUENT =
  'the of and to in a is that for it was on with as by he at be this from are an or which his had not were have but they one all their you can has more when will would who what so up if out some into other its than them only then about these two may no there first time most any do people'.split(
    ' ',
  )
const ONSETS = 'b br c ch cl cr d dr f fl fr g gr h j k l m n p pl pr qu r s sc sh sk sl sp st str sw t th tr v w y z'.split(' ')
const VOWELS = 'a a e e i i o o u ai ea ee ou y'.split(' ')
const CODAS = ['', '', '', ...'b ck d ft g l ld m mp n nd ng nt p r rd rk s ss st t th x'.split(' ')]
const ENDINGS = ['', '', '', '', 's', 'ed', 'ing', 'er', 'ion']
const VOCABULARY = 80_000
const WORDS_A_PASSAGE = 50
const WORDS_A_SENTENCE = 18
/** Texts repeat their subject: a passage has this many subject words, with this share of its words. */
const SUBJECT_WORDS = 9
const SUBJECT_SHARE = 0.2
/** Shift of Mandelbrot's law: the frequency of the word with rank r is proportional to 1 / (r + SHIFT). */
const SHIFT = 2.7
/** Steeper than the law, like real texts: the hundred most frequent words make up half of a text. */
const STEEPNESS = 2
const TOTAL = Math.log((VOCABULARY + SHIFT) / (1 + SHIFT))

/** Words beyond this rank do not occur in questions. */
const RARE = 15_000

/** Returns a generator of pseudo-random numbers below 1, determined by the seed. */
function chance(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const known = new Map<number, string>()

/** Returns the word of a rank: a frequent word, or one made of syllables that is longer if it is rarer. */
function wordOf(rank: number): string {
  if (rank < FREQUENT.length) return FREQUENT[rank]!
  let word = known.get(rank)
  if (word === undefined) {
    const random = chance(rank * 7_919)
    const pick = (list: string[]) => list[Math.floor(random() * list.length)]!
    const syllables = 1 + Math.floor(Math.log10(rank) / 4 + random() * 0.8)
    word = Array.from({ length: syllables }, () => pick(ONSETS) + pick(VOWELS) + pick(CODAS)).join('') + pick(ENDINGS)
    known.set(rank, word)
  }
  return word
}

const rankOf = (share: number): number =>
  Math.min(VOCABULARY - 1, Math.floor((1 + SHIFT) * Math.exp(share ** STEEPNESS * TOTAL) - 1 - SHIFT))

function ranksOf(random: () => number): number[] {
  const subject = Array.from({ length: SUBJECT_WORDS }, () => rankOf(0.58 + 0.3 * random()))
  return Array.from({ length: WORDS_A_PASSAGE + Math.floor(random() * 8) - 4 }, () =>
    random() < SUBJECT_SHARE ? subject[Math.floor(random() * SUBJECT_WORDS)]! : rankOf(random()),
  )
}

/** Returns the passage with a number: about 330 characters, with realistic word frequencies. Deterministic. */
export function passageOf(number: number): Item {
  const words = ranksOf(chance(number + 1)).map(wordOf)
  const sentences: string[] = []
  for (let i = 0; i < words.length; i += WORDS_A_SENTENCE) {
    const sentence = words.slice(i, i + WORDS_A_SENTENCE).join(' ')
    sentences.push(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}.`)
  }
  return { id: String(number), title: `Note ${number}`, text: sentences.join(' ') }
}

/** Returns a question that a passage answers: five of its rarer words among common question words. */
export function questionOf(number: number): string {
  const random = chance(-number - 1)
  const ranks = [...new Set(ranksOf(chance(number + 1)))].filter((rank) => rank >= FREQUENT.length && rank < RARE)
  const first = Math.floor(random() * ranks.length)
  const asked = Array.from({ length: 5 }, (_, i) => wordOf(ranks[(first + i) % ranks.length]!))
  const [a, b, c, d, e] = asked
  const forms = [
    `What is the ${a} ${b} of ${c} that ${d} the ${e}?`,
    `When did ${a} ${b} have the ${c} ${d} in ${e}?`,
    `Who was it that had ${a} the ${b} ${c} with ${d} and ${e}?`,
    `How many ${a} are there for ${b} ${c} when the ${d} is ${e}?`,
  ]
  return forms[number % forms.length]!
}

export function* passages(count: number): Generator<Item> {
  for (let i = 0; i < count; i++) yield passageOf(i)
}
