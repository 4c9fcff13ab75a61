/** Longer "front matter" is a document that begins with a rule. */
const MOST_LINES = 200
const FENCES: Record<string, RegExp> = { '---': /^(?:---|\.\.\.)\s*$/, '+++': /^\+\+\+\s*$/ }
const TITLE = /^title[ \t]*[:=](.+)$/im

/** Returns Markdown without its front matter (YAML or TOML), and the title in the front matter or null. */
export function withoutFrontMatter(text: string): { title: string | null; body: string } {
  const lines = text.split('\n', MOST_LINES)
  const end = FENCES[lines[0]!.trimEnd()]
  const last = end === undefined ? -1 : lines.findIndex((line, at) => at > 0 && end.test(line))
  if (last < 0) return { title: null, body: text }
  const front = lines.slice(0, last + 1).join('\n')
  const title = TITLE.exec(front)?.[1]
    ?.trim()
    .replace(/^(["'])(.*)\1$/, '$2')
  return { title: title || null, body: text.slice(front.length + 1) }
}
