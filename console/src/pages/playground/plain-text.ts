/** Replies as HTML begin with an element that the service makes; it does not tell which of the two a reply is. */
export const isHtml = (content: string) => /^\s*<(p|h[1-6]|ul|ol|blockquote|pre|table|hr|div)[\s>/]/i.test(content)

/** A reply as it is read out: without marks of sources and of emphasis. */
export function toPlainText(content: string): string {
  const text = isHtml(content) ? (new DOMParser().parseFromString(content, 'text/html').body.textContent ?? '') : content
  return text
    .replace(/\[\d{1,3}\]/g, '')
    .replace(/[*_`#>|]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
