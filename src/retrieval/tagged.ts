const TAGS = ['passage', 'context', 'summary', 'conversation', 'topics', 'question'] as const
/** In either width: models read the one as the other. */
const OPENS_OR_CLOSES = new RegExp(`[<＜](?=\\s*(?:[/／]\\s*)?(?:${TAGS.join('|')})\\b)`, 'gi')
/** Where the templates that models are trained with begin and end messages, as OpenAI, Llama, Mistral, Gemma, DeepSeek and Phi write them. */
const EDGES =
  /<(?=[|｜])|<(?=\/?s>)|<(?=<\/?SYS>>)|<(?=(?:start|end)_of_turn>)|<(?=\/?(?:system|user|assistant|human|think|tool_call|tool_response)>)/gi
const BRACKET_EDGES = /\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])/g
/**
 * What people do not see and models read: letters of the block of tags, selectors that carry bytes, zero-width spaces, turned directions. Joiners stay,
 * because Persian, Hindi and emoji need them.
 */
const UNSEEN =
  /[\u{AD}\u{180E}\u{200B}\u{202A}-\u{202E}\u{2060}-\u{2064}\u{2066}-\u{2069}\u{FEFF}\u{E0000}-\u{E007F}]|[\u{E0100}-\u{E01EF}]/gu

/** Text that is not ours to trust, in a tag that it cannot close. */
export const tagged = (name: (typeof TAGS)[number], text: string, attributes = ''): string =>
  `<${name}${attributes}>\n${unclosed(text)}\n</${name}>`

/** Text that opens and closes neither the tags nor a message, and says nothing that people would not see. */
export const unclosed = (text: string): string =>
  text.replace(UNSEEN, '').replace(OPENS_OR_CLOSES, '&lt;').replace(EDGES, '&lt;').replace(BRACKET_EDGES, '&#91;')
