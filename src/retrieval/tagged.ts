const TAGS = ['passage', 'context', 'summary', 'conversation', 'topics', 'question'] as const
/** Matches half-width and full-width forms, because models read both alike. */
const OPENS_OR_CLOSES = new RegExp(`[<＜](?=\\s*(?:[/／]\\s*)?(?:${TAGS.join('|')})\\b)`, 'gi')
/** Markers of chat templates, at which messages begin and end: OpenAI, Llama, Mistral, Gemma, DeepSeek and Phi. */
const EDGES =
  /<(?=[|｜])|<(?=\/?s>)|<(?=<\/?SYS>>)|<(?=(?:start|end)_of_turn>)|<(?=\/?(?:system|user|assistant|human|think|tool_call|tool_response)>)/gi
const BRACKET_EDGES = /\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])/g
/** Characters that only models read: tag letters, variation selectors, zero-width spaces, bidi controls. Persian, Hindi and emoji need joiners. */
const UNSEEN =
  /[\u{AD}\u{180E}\u{200B}\u{202A}-\u{202E}\u{2060}-\u{2064}\u{2066}-\u{2069}\u{FEFF}\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu

/** Returns untrusted text in a tag that it cannot close. */
export const tagged = (name: (typeof TAGS)[number], text: string, attributes = ''): string =>
  `<${name}${attributes}>\n${unclosed(text)}\n</${name}>`

/** Returns text without invisible characters that cannot open or close a tag or a message. */
export const unclosed = (text: string): string =>
  text.replace(UNSEEN, '').replace(OPENS_OR_CLOSES, '&lt;').replace(EDGES, '&lt;').replace(BRACKET_EDGES, '&#91;')
