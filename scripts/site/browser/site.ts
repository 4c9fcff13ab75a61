// What every page of the documentation does: theme, menu, copying code, and the search.
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

const isDark = () => getComputedStyle(document.documentElement).colorScheme === 'dark' || prefersDark()
const prefersDark = () => !document.documentElement.dataset['theme'] && matchMedia('(prefers-color-scheme: dark)').matches
find('theme').addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark'
  document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem('repartee.theme', theme)
  } catch {
    // it holds until the page is left
  }
})

const menu = find('menu')
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open')
  menu.setAttribute('aria-expanded', String(isOpen))
})

for (const block of document.querySelectorAll<HTMLElement>('pre.code')) {
  const frame = document.createElement('div')
  frame.className = 'frame'
  block.replaceWith(frame)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    // Of a session with a terminal, what is typed.
    const text = block.textContent ?? ''
    const typed = [...text.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line)
    await navigator.clipboard.writeText(block.dataset['language'] === 'console' && typed.length > 0 ? typed.join('\n') : text)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  })
  frame.append(block, button)
}

const field = find<HTMLInputElement>('search')
const results = find('results')
let entries: Promise<Entry[]> | undefined
const load = () => {
  entries ??= fetch(new URL('assets/SEARCH_INDEX', root)).then((response) => response.json() as Promise<Entry[]>)
  return entries
}
field.addEventListener('focus', load)
field.addEventListener('input', show)
field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    field.value = ''
    show()
  }
  if (event.key === 'Enter') results.querySelector('a')?.click()
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
  const found = words.length === 0 ? [] : rank(await load(), words)
  if (wordsOf(field.value).join() !== words.join()) return
  results.hidden = words.length === 0
  find('found').textContent = words.length === 0 ? '' : found.length === 0 ? 'Nothing found' : `${found.length} found`
  results.replaceChildren(...(found.length === 0 && words.length > 0 ? [nothing()] : found.map((entry) => item(entry, words))))
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []

/** Entries that hold every word, those first where it stands in the heading. */
function rank(all: Entry[], words: string[]): Entry[] {
  const scored = all.map((entry) => {
    const [heading, page, text] = [entry.heading, entry.page, entry.text].map((part) => part.toLowerCase()) as [
      string,
      string,
      string,
    ]
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
  const parts: [tag: string, text: string][] = [
    ['strong', heading],
    ['span', page === heading ? '' : page],
    ['p', `${at > 0 ? '…' : ''}${text.slice(at, at + EXCERPT_CHARS)}`],
  ]
  const link = document.createElement('a')
  link.href = new URL(to, root).href
  for (const [tag, content] of parts) {
    const element = document.createElement(tag)
    element.textContent = content
    link.append(element)
  }
  const line = document.createElement('li')
  line.append(link)
  return line
}

function nothing(): HTMLLIElement {
  const line = document.createElement('li')
  line.textContent = 'Nothing found.'
  return line
}

export {}
