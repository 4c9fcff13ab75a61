import type { MarkdownIt } from 'markdown-it'

const BOX = /^\[([ xX])\] /

/** GFM task lists: `- [x] done` becomes a list item with a disabled checkbox. */
export function taskLists(markdown: MarkdownIt): void {
  markdown.core.ruler.after('inline', 'task-lists', ({ tokens, Token }) => {
    tokens.forEach((token, i) => {
      const first = token.children?.[0]
      if (tokens[i - 2]?.type !== 'list_item_open' || first?.type !== 'text') return
      const match = BOX.exec(first.content)
      if (match === null) return
      const box = new Token('html_inline', '', 0)
      box.content = `<input type="checkbox" disabled=""${match[1] === ' ' ? '' : ' checked=""'}> `
      first.content = first.content.slice(match[0].length)
      token.children!.unshift(box)
    })
  })
}
