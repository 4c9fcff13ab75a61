import { exampleFor } from './examples.ts'
import { escapeHtml, type Heading } from './markdown.ts'
import { fieldOf, fieldsOf, inline, type Schema, typeOf } from './schema.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  schema: Schema
}

type Content = Record<string, { schema: Schema }>

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content: Content }>
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const INTRO = `<h1 id="api-reference">API reference</h1>
<p>Every request that Repartee accepts, generated from its <a href="../../openapi.json">OpenAPI document</a>. “Try it” sends a request to the service that serves this page, with the key that you enter here. The key is sent to no other server and is forgotten when you leave the page. Limits are the defaults; settings can change some of them.</p>
<form class="key needs-js" id="key-form"><label for="key">API key or user token</label><input type="password" id="key" autocomplete="off" spellcheck="false" placeholder="rpt_…"></form>
<p>A request that fails returns <a href="#errors">an error</a>.</p>`

/** Returns the page of all operations, grouped by tag, and its headings. */
export function referenceHtml({ paths, components }: OpenApi): { html: string; headings: Heading[] } {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const headings: Heading[] = []
  const parts = [INTRO]
  for (const [tag, of] of Object.entries(Object.groupBy(all, ({ operation }) => operation.tags[0]!))) {
    const id = `tag-${tag.toLowerCase()}`
    headings.push({ level: 2, text: tag, id })
    parts.push(`<h2 id="${id}">${escapeHtml(tag)}</h2>`)
    for (const { path, method, operation } of of!) {
      headings.push({ level: 3, text: operation.summary, id: operation.operationId })
      parts.push(sectionOf(path, method, operation))
    }
  }
  headings.push({ level: 2, text: 'Errors', id: 'errors' })
  parts.push(
    `<h2 id="errors">Errors</h2>\n<p>The <a href="../errors/">list of errors</a> explains what each code means and what to do.</p>\n${fieldsOf(components.schemas['Error']!)}`,
  )
  return { html: parts.join('\n'), headings }
}

function sectionOf(path: string, method: string, operation: Operation): string {
  const { operationId: id, summary, description } = operation
  return `<section class="operation" id="${id}" data-method="${method}" data-path="${path}" aria-labelledby="${id}-title">
<h3 id="${id}-title">${escapeHtml(summary)} <a class="anchor" href="#${id}" aria-label="Link to: ${escapeHtml(summary)}">#</a></h3>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>/v1${escapeHtml(path).replaceAll('/', '/<wbr>')}</code></p>
${description === undefined ? '' : `<p>${inline(description)}</p>\n`}${parametersOf(operation)}${bodyOf(operation)}${answersOf(operation)}
${tryOf(operation)}
</section>`
}

const PLACES = { path: 'In the path', query: 'Query', header: 'Headers' } as const

function parametersOf({ parameters }: Operation): string {
  return Object.entries(PLACES)
    .map(([place, title]) => {
      const fields = parameters.filter((parameter) => parameter.in === place)
      if (fields.length === 0) return ''
      return `<h4>${title}</h4>\n<dl class="fields">${fields.map(({ name, schema, required }) => fieldOf(name, schema, required)).join('')}</dl>\n`
    })
    .join('')
}

function bodyOf({ requestBody }: Operation): string {
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {}
  const schema = (json ?? form)?.schema
  if (schema === undefined) return ''
  const about = schema.description === undefined ? '' : `<p>${inline(schema.description)}</p>\n`
  const fields = fieldsOf(schema)
  return `<h4>Body${json === undefined ? ', as multipart/form-data' : ''}</h4>\n${about}${fields === '' ? '<p>An empty object.</p>\n' : fields}\n`
}

function answersOf({ responses }: Operation): string {
  const [status, { content }] = Object.entries(responses).find(([status]) => status !== 'default')!
  return Object.entries(content)
    .map(([type, { schema }]) => {
      const fields = fieldsOf(schema)
      const body = fields === '' ? `<p>${inline(schema.description ?? typeOf(schema))}</p>` : fields
      return `<details class="answer"><summary>Answer ${status} <span>${escapeHtml(type)}</span></summary>\n${body}\n</details>`
    })
    .join('\n')
}

/** Returns the form that sends a request. `browser/reference.ts` makes it work. */
function tryOf({ operationId: id, parameters, requestBody }: Operation): string {
  const inputs = parameters.map(({ name, in: place, required, schema }) => {
    const field = `${id}-${place}-${name}`
    const hint = schema.enum === undefined ? '' : ` placeholder="${escapeHtml(typeOf(schema))}"`
    return `<label for="${field}">${escapeHtml(name)}${required ? '' : ' <span>optional</span>'}</label><input id="${field}" data-in="${place}" name="${name}"${required ? ' required' : ''} autocomplete="off" spellcheck="false"${hint}>`
  })
  const schema = requestBody?.content['application/json']?.schema
  if (schema !== undefined) {
    const body = JSON.stringify(exampleFor(id, schema), null, 2)
    inputs.push(
      `<label for="${id}-body">Body</label><textarea id="${id}-body" name="body" rows="${Math.min(14, body.split('\n').length + 1)}" spellcheck="false">${escapeHtml(body)}</textarea>`,
    )
  }
  if (requestBody?.content['multipart/form-data'] !== undefined)
    inputs.push(`<label for="${id}-file">File</label><input type="file" id="${id}-file" name="file" required>`)
  return `<details class="try needs-js"><summary>Try it</summary>
<form data-operation="${id}">
<div class="inputs">${inputs.join('\n')}</div>
<h4>As curl</h4>
<pre class="code curl" tabindex="0"><code></code></pre>
<button type="submit">Send</button>
<div class="outcome" aria-live="polite"></div>
</form>
</details>`
}
