// Behaviour of every documentation page: theme, menu, copying code, and search.
interface Entry {
  to: string
  page: string
  heading: string
  text: string
}

const MOST_FOUND = 12
const EXCERPT_CHARS = 130
const root = new URL(document.body.dataset['root'] ?? './', location.href)
const find = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E
type Tags = HTMLElementTagNameMap
const create = <T extends keyof Tags>(tag: T, properties: Partial<Tags[T]>): Tags[T] =>
  Object.assign(document.createElement(tag), properties)

find('theme').addEventListener('click', () => {
  const { dataset } = document.documentElement
  const current = dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
  const theme = current === 'dark' ? 'light' : 'dark'
  dataset['theme'] = theme
  try {
    localStorage.setItem('repartee.theme', theme)
  } catch {
    // the choice lasts until the page is left
  }
})

const menu = find('menu')
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open')
  menu.setAttribute('aria-expanded', String(isOpen))
})

// A search result or heading of the current page does not reload it.
addEventListener('hashchange', () => {
  document.body.classList.remove('menu-open')
  menu.setAttribute('aria-expanded', 'false')
})

for (const block of document.querySelectorAll<HTMLElement>('pre.code')) {
  const frame = create('div', { className: 'frame' })
  block.replaceWith(frame)
  const button = create('button', { type: 'button', className: 'copy', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    // For a terminal session, copies only the typed commands.
    const text = block.textContent ?? ''
    const typed = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line)
    const isCopied = await copy(block.dataset['language'] === 'console' && typed.length > 0 ? typed.join('\n') : text)
    button.textContent = isCopied ? 'Copied' : 'Not copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  frame.append(block, button)
}

/** Copies a text. Pages served over plain HTTP, such as on a private network, have only the old clipboard API. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const copied = create('textarea', { className: 'hidden-text', value: text })
    document.body.append(copied)
    copied.select()
    const isCopied = document.execCommand('copy')
    copied.remove()
    return isCopied
  }
}

const field = find<HTMLInputElement>('site-search')
const results = find('results')
let entries: Promise<Entry[]> | undefined
const load = () => {
  entries ??= fetch(new URL('assets/SEARCH_INDEX', root)).then((response) => response.json() as Promise<Entry[]>)
  // A failed download is repeated with the next letter.
  entries.catch(() => {
    entries = undefined
  })
  return entries
}
field.addEventListener('focus', () => void load().catch(() => {}))
field.addEventListener('input', show)
field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = ''
    show()
  }
  // A fast typist presses Enter before the results are shown.
  if (event.key === 'Enter') void show().then(() => results.querySelector('a')?.click())
  if (event.key === 'ArrowDown') {
    event.preventDefault()
    results.querySelector('a')?.focus()
  }
})
results.addEventListener('keydown', (event) => {
  const links = [...results.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement as HTMLAnchorElement)
  if (event.key === 'ArrowDown') links[at + 1]?.focus()
  else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus()
  else return
  event.preventDefault()
})
document.addEventListener('keydown', (event) => {
  const isTyping = (event.target as HTMLElement).closest('input, textarea, select') !== null
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  field.focus()
})

async function show(): Promise<void> {
  const words = wordsOf(field.value)
  const all = words.length === 0 ? [] : await load().catch(() => undefined)
  if (wordsOf(field.value).join() !== words.join()) return
  const found = rank(all ?? [], words)
  results.hidden = words.length === 0
  const none = all === undefined ? 'The search could not be loaded.' : 'Nothing found.'
  find('found').textContent = words.length === 0 ? '' : found.length === 0 ? none : `${found.length} found`
  results.replaceChildren(
    ...(found.length === 0 && words.length > 0
      ? [create('li', { textContent: none })]
      : found.map((entry) => item(entry, words))),
  )
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []

/** Returns the entries that contain every word. Matches in the heading come first. */
function rank(all: Entry[], words: string[]): Entry[] {
  const scored = all.map((entry) => {
    const heading = entry.heading.toLowerCase()
    const page = entry.page.toLowerCase()
    const text = entry.text.toLowerCase()
    let score = 0
    for (const word of words) {
      const of = (heading.includes(word) ? 6 : 0) + (page.includes(word) ? 3 : 0) + Math.min(3, text.split(word).length - 1)
      if (of === 0) return { entry, score: 0 }
      score += of
    }
    return { entry, score }
  })
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, MOST_FOUND)
    .map(({ entry }) => entry)
}

function item({ to, page, heading, text }: Entry, words: string[]): HTMLLIElement {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]!) - 40)
  const link = create('a', { href: new URL(to, root).href })
  link.append(
    create('strong', { textContent: heading }),
    create('span', { textContent: page === heading ? '' : page }),
    create('p', { textContent: `${at > 0 ? '…' : ''}${text.slice(at, at + EXCERPT_CHARS)}` }),
  )
  const line = create('li', {})
  line.append(link)
  return line
}

export {}
