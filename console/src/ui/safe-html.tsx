import './prose.css'
import { createElement, Fragment, type ReactNode, useMemo } from 'react'
import { CodeBlock } from './code-block.tsx'
import { OutsideLink } from './link.tsx'
import { useUiTexts } from './texts.ts'

/** Allowed elements. For other elements, only their content is shown. */
const SHOWN = new Set(
  'p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote em strong del s code kbd sub sup table thead tbody tfoot tr th td dl dt dd'.split(
    ' ',
  ),
)
/** Elements that are dropped with their content, because it is not text. */
const DROPPED = new Set('script style template iframe object embed svg math noscript title head'.split(' '))
/** Headings in the text get a lower level than the headings of the page. */
const LOWERED: Record<string, string> = { h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6' }

interface Options {
  /** Renders the mark `[n]` of a source; the default is the mark itself. */
  citation?: ((n: number) => ReactNode) | undefined
}

/** Renders HTML as React elements from an allowlist. Nothing in it can run, load, or imitate a part of the page. */
export function SafeHtml({ html, citation }: { html: string } & Options) {
  const texts = useUiTexts()
  const content = useMemo(() => {
    const { body } = new DOMParser().parseFromString(quiet(html), 'text/html')
    return childrenOf(body, { citation, image: texts.image, code: texts.code })
  }, [html, citation, texts])
  return (
    <div className="prose" dir="auto">
      {content}
    </div>
  )
}

/** Renames styles and handlers, which are dropped below. Under another name they do not cause reports of the content security policy. */
const quiet = (html: string) => html.replace(/<[^<>]*>/g, (tag) => tag.replace(/([\s/])(style|on\w+)(?=\s*=)/gi, '$1data-$2'))

type Context = Options & { image(alt: string): string; code: string }

const childrenOf = (parent: Node, context: Context): ReactNode[] =>
  // biome-ignore lint/suspicious/noArrayIndexKey: the nodes of a text have no id, only a position
  [...parent.childNodes].map((node, key) => <Fragment key={key}>{toReact(node, context)}</Fragment>)

function toReact(node: Node, context: Context): ReactNode {
  if (node.nodeType === Node.TEXT_NODE) return withCitations(node.textContent ?? '', context)
  if (!(node instanceof Element)) return null
  const name = node.localName
  if (DROPPED.has(name)) return null
  if (name === 'a') return <OutsideLink href={node.getAttribute('href') ?? ''}>{childrenOf(node, context)}</OutsideLink>
  if (name === 'img') {
    return <OutsideLink href={node.getAttribute('src') ?? ''}>{context.image(node.getAttribute('alt') ?? '')}</OutsideLink>
  }
  if (name === 'pre') {
    const language = /\blanguage-([\w+#-]{1,20})/.exec(node.firstElementChild?.className ?? '')?.[1]
    const code = (node.textContent ?? '').replace(/\n$/, '')
    return <CodeBlock code={code} label={language ?? context.code} {...(language !== undefined && { language })} />
  }
  if (name === 'input') return node.hasAttribute('checked') ? '☑ ' : '☐ '
  if (!SHOWN.has(name)) return childrenOf(node, context)
  const children = childrenOf(node, name === 'code' ? { ...context, citation: undefined } : context)
  if (name === 'br' || name === 'hr') return createElement(name)
  const element = createElement(LOWERED[name] ?? name, attributesOf(node), ...children)
  return name === 'table' ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard
    <div className="prose-table" tabIndex={0}>
      {element}
    </div>
  ) : (
    element
  )
}

function attributesOf(element: Element): Record<string, string | number> {
  const start = element.localName === 'ol' ? Number(element.getAttribute('start')) : 0
  const align = /^text-align: *(left|right|center);?$/.exec(element.getAttribute('data-style') ?? '')?.[1]
  return { ...(start > 1 && { start }), ...(align !== undefined && { 'data-align': align }) }
}

function withCitations(text: string, { citation }: Context): ReactNode {
  if (citation === undefined) return text
  // A non-breaking space puts each mark on the same line as the word before it.
  return text
    .replace(/ (?=\[\d{1,3}\])/g, '\u00a0')
    .split(/\[(\d{1,3})\]/)
    .map((part, i) => (i % 2 === 0 ? part : <Fragment key={String(i)}>{citation(Number(part))}</Fragment>))
}
