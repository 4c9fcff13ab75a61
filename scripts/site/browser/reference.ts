// “Try it” in the API reference: sends requests only to the service that serves the page.
const base = new URL('../../v1', location.href).href.replace(/\/$/, '')
const keyField = document.getElementById('key') as HTMLInputElement
keyField.form!.addEventListener('submit', (event) => event.preventDefault())

for (const form of document.querySelectorAll<HTMLFormElement>('form[data-operation]')) {
  const curl = form.querySelector('.curl code')!
  const showCurl = () => {
    curl.textContent = toCurl(form)
  }
  form.addEventListener('input', showCurl)
  form.closest('details')!.addEventListener('toggle', () => {
    fillIn()
    showCurl()
  })
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send(form).catch((error: Error) => showText(form, `The request failed: ${error.message}`))
  })
}

interface Request {
  method: string
  url: string
  headers: Record<string, string>
  body: string | FormData | undefined
}

function toRequest(form: HTMLFormElement): Request {
  const { method, path } = form.closest<HTMLElement>('.operation')!.dataset as { method: string; path: string }
  const fields = [...form.querySelectorAll<HTMLInputElement>('input[data-in]')]
  const of = (place: string) =>
    fields.filter((field) => field.dataset['in'] === place && field.value !== '').map(({ name, value }) => [name, value.trim()])
  const inPath = Object.fromEntries(of('path')) as Record<string, string>
  const filled = path.replace(/\{(\w+)\}/g, (whole, name: string) => (inPath[name] ? encodeURIComponent(inPath[name]) : whole))
  const query = new URLSearchParams(of('query')).toString()
  const headers = Object.fromEntries(of('header')) as Record<string, string>
  const file = form.querySelector<HTMLInputElement>('input[type=file]')?.files?.[0]
  const text = form.querySelector<HTMLTextAreaElement>('textarea')?.value
  const body = file === undefined ? text : new FormData()
  if (body instanceof FormData) body.set('file', file!)
  else if (body !== undefined) headers['Content-Type'] = 'application/json'
  return { method, url: `${base}${filled}${query === '' ? '' : `?${query}`}`, headers, body }
}

function toCurl(form: HTMLFormElement): string {
  const { method, url, headers, body } = toRequest(form)
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const parts = [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${/[?{&]/.test(url) ? quoted(url) : url}`,
    '-H "X-API-Key: $KEY"',
  ]
  for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body instanceof FormData) parts.push(`-F file=@${quoted((body.get('file') as File).name)}`)
  else if (body !== undefined) parts.push(`-d ${quoted(body)}`)
  return parts.join(' \\\n  ')
}

async function send(form: HTMLFormElement): Promise<void> {
  const { method, url, headers, body } = toRequest(form)
  const key = keyField.value.trim()
  if (key === '') {
    showText(form, 'Enter a key at the top of the page first.')
    keyField.focus()
    return
  }
  const startedAt = performance.now()
  // Keys and user tokens are both accepted as bearer tokens.
  const response = await fetch(url, { method, headers: { ...headers, Authorization: `Bearer ${key}` }, body: body ?? null })
  const type = response.headers.get('content-type') ?? ''
  const head = () => `${response.status} ${response.statusText} · ${Math.round(performance.now() - startedAt)} ms`
  if (!type.startsWith('application/json')) {
    await showStream(response, (text) => showText(form, head(), text))
    return
  }
  const text = await response.text()
  const answer = JSON.parse(text) as Record<string, unknown>
  showText(form, head(), JSON.stringify(answer, null, 2))
  remember(form, answer)
}

async function showStream(response: Response, show: (text: string) => void): Promise<void> {
  let text = ''
  show(text)
  // Safari has no `for await` of a stream.
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) {
    text += next.value
    show(text)
  }
}

function showText(form: HTMLFormElement, head: string, body?: string): void {
  const outcome = form.querySelector<HTMLElement>('.outcome')!
  outcome.replaceChildren(Object.assign(document.createElement('p'), { textContent: head }))
  if (body === undefined) return
  outcome.append(Object.assign(document.createElement('pre'), { className: 'code', tabIndex: 0, textContent: body }))
}

/** Ids that were entered or came back, by the parameter that takes them, so that readers type each once. */
const known = new Map<string, string>()
const NOUNS: Record<string, string> = {
  agent: 'agentId',
  session: 'sessionId',
  document: 'documentId',
  source: 'sourceId',
  key: 'keyId',
  webhook: 'webhookId',
  userMessage: 'messageId',
  aiMessage: 'messageId',
}

function remember(form: HTMLFormElement, answer: Record<string, unknown>): void {
  for (const field of form.querySelectorAll<HTMLInputElement>('input[data-in=path]')) known.set(field.name, field.value.trim())
  for (const [noun, name] of Object.entries(NOUNS)) {
    const list = answer[`${noun}s`]
    const id = ((answer[noun] ?? (Array.isArray(list) ? list[0] : undefined)) as { id?: string } | undefined)?.id
    if (id !== undefined) known.set(name, id)
  }
  fillIn()
}

function fillIn(): void {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-in=path]')) {
    if (field.value !== '' || !known.has(field.name)) continue
    field.value = known.get(field.name)!
  }
}

export {}
