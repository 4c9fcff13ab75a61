/** The languages with stop words or a stemmer, as ISO 639-1 codes. */
export const languages = [
  'en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'sv', 'da', 'no', 'fi', 'ro', 'tr', 'pl', 'cs', 'hu', 'id', 'vi',
  'ru', 'uk', 'bg', 'el', 'ar', 'fa', 'hi', 'he', 'ko', 'zh', 'ja', 'th', 'lo', 'km', 'my',
] as const // biome-ignore format: a table
export type Language = (typeof languages)[number]

export const scripts = [
  'latin',
  'cyrillic',
  'greek',
  'arabic',
  'devanagari',
  'hebrew',
  'hangul',
  'han',
  'thai',
  'lao',
  'khmer',
  'myanmar',
  'other',
] as const
export type Script = (typeof scripts)[number]

/** The languages of a script, most likely first. The first is the default. */
export const languagesOf: Record<Script, readonly Language[]> = {
  latin: ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'sv', 'da', 'no', 'fi', 'ro', 'tr', 'pl', 'cs', 'hu', 'id', 'vi'],
  cyrillic: ['ru', 'uk', 'bg'],
  greek: ['el'],
  arabic: ['ar', 'fa'],
  devanagari: ['hi'],
  hebrew: ['he'],
  hangul: ['ko'],
  han: ['zh', 'ja'],
  thai: ['th'],
  lao: ['lo'],
  khmer: ['km'],
  myanmar: ['my'],
  other: ['en'],
}

export const scriptOf: ReadonlyMap<Language, Script> = new Map(
  scripts.flatMap((script) =>
    script === 'other' ? [] : languagesOf[script].map((language): [Language, Script] => [language, script]),
  ),
)

/** Letters that few languages of a script share. Each word with one of them votes for these languages. */
export const languageMarkers: readonly (readonly [RegExp, readonly Language[]])[] = [
  [/ß/, ['de']],
  [/[äö]/, ['de', 'sv', 'fi']],
  [/ü/, ['de', 'tr', 'hu']],
  [/ñ/, ['es']],
  [/[ãõ]/, ['pt']],
  [/[șțăşţ]/, ['ro']],
  [/[ğış]/, ['tr']],
  [/å/, ['sv', 'da', 'no']],
  [/[æø]/, ['da', 'no']],
  [/[őű]/, ['hu']],
  [/[łąężźćśń]/, ['pl']],
  [/[řěůčšž]/, ['cs']],
  [/[ơưđạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/, ['vi']],
  [/[èêëçœû]/, ['fr']],
  [/[òì]/, ['it']],
  [/[іїєґ]/, ['uk']],
  [/[ыэё]/, ['ru']],
  [/ъ[бвгджзклмнпрстфхцчшщ]/, ['bg']],
  [/[پچژگکی]/, ['fa']],
  [/[ぁ-ヿ]/, ['ja']],
]
