import { type Documentation, firstSentence, type Page } from './pages.ts'

const ABOUT =
  'Repartee is a headless chat service: an application talks to AI agents over HTTP and JSON, Repartee keeps the sessions and their messages, and every reply is grounded in documents of your own.'

/** Returns an index of the documentation for language models (llmstxt.org). Links are relative to the service. */
export function llmsIndex({ groups, decisions }: Documentation): string {
  const { main = [], side = [] } = Object.groupBy(groups, ({ title }) => (title === 'Reference' ? 'side' : 'main'))
  const sections = main.map(({ title, pages }) => `## ${title}\n\n${linksTo(pages)}`)
  const reference = side.flatMap(({ pages }) => pages)
  // llmstxt.org: readers with little space can skip the section `Optional`.
  return `# Repartee

> ${ABOUT}

All pages in one file: [llms-full.txt](llms-full.txt).

${sections.join('\n\n')}

## Optional

- [OpenAPI](openapi.json): Every request with its schemas, as OpenAPI 3.1.
${linksTo([...reference, ...decisions])}
`
}

const linksTo = (pages: Page[]): string =>
  pages.map(({ title, path, about }) => `- [${title}](docs/${path}.md): ${firstSentence(about)}`).join('\n')

export function llmsFull({ groups }: Documentation): string {
  return `${groups.flatMap(({ pages }) => pages.map(({ markdown }) => markdown.trim())).join('\n\n---\n\n')}\n`
}
