/** The service does not report the format of a reply. A reply in HTML begins with an element that the service creates. */
export const isHtml = (content: string) => /^\s*<(p|h[1-6]|ul|ol|blockquote|pre|table|hr|div)[\s>/]/i.test(content)

/** Returns a reply as plain text for screen readers, without citation marks and emphasis. */
export function toPlainText(content: string): string {
  const text = isHtml(content) ? (new DOMParser().parseFromString(content, 'text/html').body.textContent ?? '') : content
  return text
    .replace(/\[\d{1,3}\]/g, '')
    .replace(/[*_`#>|]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
