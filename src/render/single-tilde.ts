import type { MarkdownIt, StateInline } from 'markdown-it'

const TILDE = 126
/** Single and double tildes must not match each other. */
const MARKER = TILDE + 0x10000

/** GFM also strikes text between single tildes. Not within words: `5~10` is a range. */
export function singleTildes(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('strikethrough', 'single-tilde', (state, silent) => {
    if (silent || state.src.charCodeAt(state.pos) !== TILDE) return false
    const { length, can_open: open, can_close: close } = state.scanDelims(state.pos, false)
    if (length !== 1) return false
    state.push('text', '', 0).content = '~'
    state.delimiters.push({ marker: MARKER, length: 0, token: state.tokens.length - 1, end: -1, open, close })
    state.pos++
    return true
  })
  markdown.inline.ruler2.before('strikethrough', 'single-tilde', (state) => {
    strike(state, state.delimiters)
    for (const meta of state.tokens_meta) if (meta?.delimiters) strike(state, meta.delimiters)
  })
}

function strike({ tokens }: StateInline, delimiters: StateInline['delimiters']): void {
  for (const { marker, token, end } of delimiters) {
    if (marker !== MARKER || end === -1) continue
    Object.assign(tokens[token]!, { type: 's_open', tag: 's', nesting: 1, markup: '~', content: '' })
    Object.assign(tokens[delimiters[end]!.token]!, { type: 's_close', tag: 's', nesting: -1, markup: '~', content: '' })
  }
}
