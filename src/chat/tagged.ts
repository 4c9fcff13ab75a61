const TAGS = ['passage', 'context', 'summary', 'conversation', 'topics', 'question'] as const
const OPENS_OR_CLOSES = new RegExp(`<(?=\\s*\\/?\\s*(?:${TAGS.join('|')})\\b)`, 'gi')

/** Text that is not ours to trust, in a tag that it cannot close. */
export const tagged = (name: (typeof TAGS)[number], text: string, attributes = ''): string =>
  `<${name}${attributes}>\n${unclosed(text)}\n</${name}>`

/** Text that opens and closes none of the tags. */
export const unclosed = (text: string): string => text.replace(OPENS_OR_CLOSES, '&lt;')
