import { type ChatOptions, complain } from '../options.ts'

/** About the length of a long article. */
const MAX_CHARS = 12_000
/** Invisible elements, and everything that a visitor has typed or selected. */
const LEFT_OUT =
  'script,style,noscript,template,svg,iframe,object,input,textarea,select,datalist,output,[contenteditable]:not([contenteditable=false]),[role=textbox],[hidden],[aria-hidden=true],repartee-chat'
/** A longer wait would delay the visitor's message. */
const PATIENCE_MS = 3_000
/** The service rejects half a character, such as a cut can leave. */
const NO_TEXT = /[\p{Surrogate}\0]/gu
const INLINE = /^(inline|contents|ruby)/

/** Resolves to the page context that the owner configured. If reading it fails, the message is sent without it. */
export async function contextOf(wish: ChatOptions['context']): Promise<string | undefined> {
  try {
    if (typeof wish === 'function') return cut((await within(PATIENCE_MS, wish())) ?? '') || undefined
    if (!wish) return undefined
    const root = wish === 'page' ? document.querySelector('main, article') : document.querySelector(wish)
    return toContext(root ?? (wish === 'page' ? document.body : undefined))
  } catch (error) {
    complain(`the context could not be read: ${error}`)
    return undefined
  }
}

/** Leaves out the query and the fragment of the address, because they can contain secrets. */
const toContext = (root: Element | undefined): string =>
  cut(`${document.title}\n${location.origin}${location.pathname}\n\n${root === undefined ? '' : visibleText(root)}`)

const cut = (text: string): string => text.slice(0, MAX_CHARS).replace(NO_TEXT, '')

async function within<T>(ms: number, value: T): Promise<Awaited<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([value, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** Returns the visible text, without the content of form fields. */
export function visibleText(root: Element): string {
  let text = ''
  const read = (node: Node) => {
    if (text.length > MAX_CHARS) return
    if (node instanceof Text) text += node.data.replace(/\s+/g, ' ')
    if (!(node instanceof Element) || node.matches(LEFT_OUT)) return
    const { display, visibility } = getComputedStyle(node)
    if (display === 'none' || visibility === 'hidden') return
    const isBlock = !INLINE.test(display)
    if (isBlock) text += '\n'
    for (const child of node.childNodes) read(child)
    if (isBlock) text += '\n'
  }
  read(root)
  return text.replace(/(?<![ \t])[ \t]*\n\s*/g, '\n').trim()
}
