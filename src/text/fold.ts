const INVISIBLE = /\u200c|\u200d|\u00ad|\u0640/g
const SPECIAL: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i', ς: 'σ', ё: 'е' }
const SPECIALS = /[ßæœøłđıςё]/g

export function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

/** No script needs longer runs of marks, and sorting them takes quadratic time. Half-width voiced sound marks normalize to such marks. */
const MARKS_TOO_MANY = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu
const FEW_CHARS = 256

/** Returns the Unicode normal form of a text, with at most 30 marks per character. Takes linear time. */
export function normalize(text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD' = 'NFC'): string {
  return (text.length <= FEW_CHARS ? text : text.replace(MARKS_TOO_MANY, '$1')).normalize(form)
}

/** Returns NFKC in lower case without invisible characters. Diacritics stay, because stemmers need them. */
export function lower(text: string): string {
  if (isAscii(text)) return text.toLowerCase()
  return normalize(text, 'NFKC').toLowerCase().replace(INVISIBLE, '')
}

/**
 * Unifies spellings of text that went through `lower`: removes diacritics of Latin and Greek (and the breve and diaeresis of Cyrillic)
 * and Arabic vowel signs, expands ligatures and unifies Arabic letter forms.
 */
export function fold(text: string): string {
  if (isAscii(text)) return text
  const plain = normalize(text, 'NFD')
    .replace(/[\u0300-\u036f\u064b-\u065f\u0670\u0591-\u05c7]/g, '')
    .normalize('NFC')
    .replace(SPECIALS, (c) => SPECIAL[c]!)
  return plain
    .replace(/[أإآٱ]/g, 'ا')
    .replace(/[ىی]/g, 'ي')
    .replace(/ک/g, 'ك')
    .replace(/ة/g, 'ه')
}
