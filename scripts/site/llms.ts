import { firstSentence, type Group } from './pages.ts'

const ABOUT =
  'Repartee is a headless chat service: an application talks to AI agents over HTTP and JSON, Repartee keeps the sessions and their messages, and every reply is grounded in documents of your own.'

/** Returns an index of the documentation for language models (llmstxt.org). Links are relative to the service. */
export function llmsIndex(groups: Group[]): string {
  const parts = groups
    .filter(({ pages }) => pages.length > 0)
    .map(({ title, pages }) => {
      const isSide = title === 'Decisions' || title === 'Reference'
      const links = pages.map((page) => `- [${page.title}](docs/${page.path}.md): ${firstSentence(page.about)}`)
      if (title === 'Reference') links.unshift('- [OpenAPI](openapi.json): Every request with its schemas, as OpenAPI 3.1.')
      return { isSide, text: `## ${title}\n\n${links.join('\n')}` }
    })
  const main = parts.filter(({ isSide }) => !isSide).map(({ text }) => text)
  // llmstxt.org: readers with little space can skip the section `Optional`.
  const side = parts.filter(({ isSide }) => isSide).map(({ text }) => text.replace(/^## .*\n\n/, ''))
  return `# Repartee\n\n> ${ABOUT}\n\nAll pages in one file: [llms-full.txt](llms-full.txt).\n\n${main.join('\n\n')}\n\n## Optional\n\n${side.join('\n')}\n`
}

export function llmsFull(groups: Group[]): string {
  const pages = groups.filter(({ title }) => title !== 'Decisions').flatMap(({ pages }) => pages)
  return `${pages.map(({ markdown }) => markdown.trim()).join('\n\n---\n\n')}\n`
}
