import assert from 'node:assert/strict'
import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { generated } from '../scripts/generate-docs.ts'
import { makeKey } from '../src/access/key-format.ts'
import { killed, launch } from './support/cleanup.ts'
import { ModelServer, refuses, says } from './support/model-server.ts'
import { until } from './support/poll.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const QUICK_START = 'docs/quick-start.md'
/** Pages that need nothing from another page; all others begin where the quick start ends. */
const SELF_CONTAINED = ['README.md', QUICK_START]
const PAGE_LIMIT_MS = 300_000

/** Blocks marked `console` are read and not run; each by the words that it begins with, and why. */
const notRun: [page: string, begin: string, reason: string][] = [
  ['README.md', '$ git clone', 'needs the address of the repository, and the start of the service does not end'],
  [QUICK_START, '$ git clone', 'needs the address of the repository, and the start of the service does not end'],
  [QUICK_START, '$ npm start -- init', 'asks a person'],
  ['docs/providers/openai.md', '$ OPENAI_API_KEY=sk-… npm', 'starts a second service, with a key of the reader'],
  [
    'docs/providers/openai.md',
    '$ OPENAI_API_KEY=sk-… REPARTEE_OPENAI_PROTOCOL',
    'starts a second service, with a key of the reader',
  ],
  ['docs/providers/openai.md', '$ OPENAI_BASE_URL=', 'starts a second service, with a key of the reader'],
  ['docs/providers/anthropic.md', '$ ANTHROPIC_API_KEY=', 'starts a second service, with a key of the reader'],
  ['docs/providers/google.md', '$ GOOGLE_GENERATIVE_AI_API_KEY=', 'starts a second service, with a key of the reader'],
  ['docs/providers/ollama.md', '$ ollama pull', 'downloads a model, and starts a second service'],
  ['docs/providers/compatible.md', '$ cat repartee.json', 'starts a second service, with keys of the reader'],
  ['docs/deploy.md', '$ npm install --omit=optional repartee\n', 'needs the published package'],
  ['docs/deploy.md', '$ docker build', 'needs a container engine'],
  ['docs/deploy.md', '$ npx repartee backup', 'needs the published package'],
  ['docs/operations.md', 'REPARTEE_DATABASE_URL=postgres://repartee@db/repartee repartee move', 'needs a database server'],
  ['docs/answers.md', '$ npm install --ignore-scripts', 'installs half a gigabyte, and starts a second service'],
  ['docs/models.md', '$ cat data/prices.json', 'shows a file of the reader'],
  ['docs/standard-clients.md', '$ cat chat.py', 'needs a package of Python'],
  ['docs/standard-clients.md', '$ cat chat.tsx', 'is part of a page; test/browser/use-chat.test.ts tries one'],
  ['docs/widget.md', 'Content-Security-Policy:', 'is a header; test/browser/widget-page.test.ts serves its pages with it'],
  ['docs/configuration.md', '$ REPARTEE_PORT=', 'starts a second service'],
  ['docs/configuration.md', '$ cat repartee.json', 'starts a second service'],
  ['docs/monitoring.md', '$ OTEL_EXPORTER_OTLP_ENDPOINT=', 'starts a second service, and needs a collector'],
  ['docs/monitoring.md', '$ cat prometheus.yml', 'shows a file of the reader'],
  ['docs/mcp.md', '$ claude mcp add', 'needs a program of others'],
  ['docs/mcp.md', '$ cat .cursor/mcp.json', 'shows a file of the reader'],
  ['docs/mcp.md', '$ cat .vscode/mcp.json', 'shows a file of the reader'],
  ['docs/mcp.md', '$ cat claude_desktop_config.json', 'shows a file of the reader'],
  ['docs/mcp.md', '$ cat ask.py', 'needs a package of Python'],
  ['docs/client.md', '$ npm install', 'needs the published package'],
  ['client/README.md', '$ npm install', 'needs the published package'],
  ['CONTRIBUTING.md', '$ npm test', 'would run this test within itself'],
]

/** Blocks in other languages, and the test that runs all of them. */
const runElsewhere: [page: string, language: string, test: string][] = [
  ['docs/widget.md', 'html', 'test/browser/widget-page.test.ts'],
  ['docs/widget.md', 'js', 'test/browser/widget-page.test.ts'],
]

/** What a page promises of its answers where it does not show them. */
const promised: [page: string, text: string][] = [
  ['docs/embed.md', '{"token":"rpu_'],
  ['README.md', 'The shop is open on Saturday from 10:00 to 16:00. [1]'],
  ['README.md', "I don't know: the knowledge base does not hold an answer to this question."],
]

/** What a newcomer may ask the sample agent, and words that the reply must hold: the pages are its knowledge base. */
const asked: [question: string, words: string][] = [
  ['How do I add my own documents?', 'in one of four ways'],
  ['Which models can I use?', 'the built-in `extractive` model, and language models by the names'],
  ['What happens when the model fails?', '502 `model_failed`'],
  ['How do I delete a session?', 'DELETE /agents/{agentId}/sessions/{sessionId}'],
  ['How do I use Ollama?', '`OLLAMA_HOST`'],
  ['How do I use Claude?', '`ANTHROPIC_API_KEY`'],
  ['How do I use vLLM?', 'under `providers` in the configuration file'],
  ['I lost the admin key, what now?', 'npm start -- keys create --admin'],
  ['How do I back up the service?', 'npm start -- backup FOLDER'],
  ['How do I change the port?', '`REPARTEE_PORT`'],
  ['Which scopes does a key have?', 'The scope `knowledge`'],
  ['How do I get HTML replies?', '"format": "html"'],
  ['Is there a rate limit?', 'There is a rate limit for each API key'],
  ['How do I use the client with React?', '`useSession`'],
  ['What is Repartee?', 'Repartee is a headless chat service'],
  ['is it free', 'Apache License 2.0'],
  ['do i need an openai key', 'No. Without any provider'],
  ['does it work offline', 'sends nothing to the internet'],
  ['do i need docker', 'neither a database server nor a container'],
  ['do i need a database', 'neither a database server nor a container'],
  ['does it support postgres', '`REPARTEE_DATABASE_URL`'],
  ['how do i install it', 'npm install'],
  ['how do i start it', '`npm start`'],
  ['how do i create an agent', 'POST /agents'],
  ['can it read pdf files', 'PDF: the text of each page'],
  ['how big can a document be', '50 MB'],
  ['does it have a web interface', 'console'],
  ['put a chatbot on my website', 'widget'],
  ['how do i stream replies', 'Accept: text/event-stream'],
  ['what languages are supported', 'all languages are supported'],
  ['how do i make it answer in french', 'Always answer in French.'],
  ['how do i delete all data of a user', 'DELETE /agents/{agentId}/users/{externalUserId}'],
  ['what happens if openai is down', '`fallbackModels`'],
  ['what happens when the server crashes', 'No acknowledged message is lost.'],
  ['how do i upgrade', 'Install the new version and restart.'],
  ['is my data sent to anyone', 'no data is sent to a third party'],
  ['how do i limit costs', '`budget`'],
  ['can i hand over to a human', 'Not yet.'],
  ['does it support tools or function calling', 'Not yet.'],
  ['how do i get an api key', 'The first start prints an admin key'],
  ['how do i run several replicas', 'load balancer'],
  ['what is the difference between an agent and a session', 'A session is one conversation'],
  ['how do i report a bug', 'issue tracker'],
  ['does it cite sources', 'cites a passage with a mark `[n]`'],
  ['what can i do with it', 'an assistant that answers questions'],
  ['can i use it commercially', 'allows commercial use'],
  ['how does it work', 'You create an agent and add documents.'],
  ['is it fast', 'a few milliseconds'],
  ['how many users can it handle', 'There is no fixed limit.'],
  ['does it remember the conversation', 'Every message of a session is stored'],
  ['how do i change the system prompt', 'its field `instructions`'],
  ['where is the data stored', '`./data`'],
  ['can i crawl a website', 'the address of a page or of a whole site'],
  ['how to secure it', 'a proxy with TLS'],
  ['does it support webhooks', '`POST /webhooks`'],
  ['how do i turn off the sample', '`REPARTEE_SAMPLE=off`'],
  ['what is a knowledge base', 'set of its documents'],
  ['how do i see what users asked', 'Insights list the questions'],
  ['gdpr', 'you host it yourself'],
  ['how do i log in to the console', 'enter the admin key'],
  ['why is the answer wrong', 'does not answer the question'],
  ['does it support salesforce', "I don't know"],
  ['What is the capital of France?', "I don't know"],
  ['How do I bake bread?', "I don't know"],
]

/** Blocks that no shell runs, by their language. */
const checkers: Record<string, (blocks: Block[]) => void> = { tsx: compile, html: findSources }

/** Types are those of the packages as they are: React's, and those of the client's source. */
function compile(blocks: Block[]): void {
  // Within the console, whose packages they use.
  const folder = mkdtempSync(join(ROOT, 'console/docs-'))
  try {
    const extended = {
      extends: '../tsconfig.json',
      compilerOptions: { customConditions: ['repartee-source'] },
      include: ['.'],
      exclude: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(extended))
    for (const [i, { text }] of blocks.entries()) writeFileSync(join(folder, `block-${i}.tsx`), text)
    const { status, stdout } = spawnSync('npx', ['--no-install', 'tsc', '-p', folder], { cwd: ROOT, encoding: 'utf8' })
    assert.equal(status, 0, `${blocks.map(({ page, line }) => `${page}:${line}`).join(', ')}\n${stdout}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What a page loads is built by `scripts/build-web.ts`. */
function findSources(blocks: Block[]): void {
  for (const { page, line, text } of blocks)
    for (const [, name] of text.matchAll(/src="http:\/\/127\.0\.0\.1:8080\/([^"]+)"/g))
      assert.ok(existsSync(join(ROOT, 'static', name!.replace(/\.js$/, ''), name!)), `${page}:${line} loads ${name}`)
}

interface Block {
  page: string
  /** Of its first line of text, from 1. */
  line: number
  language: string
  text: string
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'client/README.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
]

function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [i, line] of read(page).split('\n').entries()) {
    if (line.startsWith('```') && open === undefined) open = { page, line: i + 2, language: line.slice(3).trim(), text: '' }
    else if (line.startsWith('```')) {
      blocks.push(open!)
      open = undefined
    } else if (open !== undefined) open.text += `${line}\n`
  }
  assert.equal(open, undefined, `${page}: a block of code is not closed`)
  return blocks
}

describe('generated pages are up to date: `npm run docs`', () => {
  for (const [path, make] of Object.entries(generated)) {
    it(path, () => assert.equal(read(path), make()))
  }
  it('the client has no other modules of functions', () => {
    const modules = globSync('client/src/api/*.ts', { cwd: ROOT })
    assert.deepEqual(
      modules.sort(),
      Object.keys(generated)
        .filter((path) => path.startsWith('client/src/api/'))
        .sort(),
    )
  })
})

describe('links lead somewhere', () => {
  for (const page of pages) {
    it(page, () => {
      const text = read(page).replace(/^```[\s\S]*?^```/gm, '')
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue
        const path = join(ROOT, dirname(page), target!.split('#', 1)[0]!)
        assert.ok(existsSync(path), `${page} links to ${target}, which is not there`)
      }
    })
  }
})

describe('files of the code that pages name are there', () => {
  for (const page of pages) {
    it(page, () => {
      for (const [, path] of read(page).matchAll(
        /`((?:src|scripts|test|api|chat|http|knowledge|models|render|store)\/[\w/.-]+\.ts)`/g,
      )) {
        const isThere = existsSync(join(ROOT, path!)) || existsSync(join(ROOT, 'src', path!))
        assert.ok(isThere, `${page} names ${path}, which is not there`)
      }
    })
  }
})

describe('blocks of code', () => {
  const blocks = pages.flatMap(blocksOf)

  it('are run, are the answer of the block before, or are named with a reason', () => {
    for (const [i, { page, line, language, text }] of blocks.entries()) {
      const place = `${page}:${line}`
      if (language === 'console') {
        const isListed = notRun.some(([of, begin]) => of === page && text.startsWith(begin))
        assert.ok(isListed, `${place} is not run, and notRun gives no reason`)
      } else if (language === 'json') {
        const before = blocks[i - 1]
        assert.ok(before?.page === page && before.language === 'sh', `${place} is the answer of no block above it`)
      } else if (language === 'text') {
        const before = blocks[i - 1]
        assert.ok(before?.page === page && before.language === 'ts', `${place} is the output of no block above it`)
      } else if (language === 'diagram') {
        for (const [file] of text.matchAll(/[\w-]+(?:\/[\w-]+)*\.ts\b/g))
          assert.ok(existsSync(join(ROOT, 'src', file)), `${place} names ${file}, which is not there`)
      } else if (language !== 'sh' && language !== 'ts' && !(language in checkers)) {
        const [, , test] = runElsewhere.find((entry) => entry[0] === page && entry[1] === language) ?? []
        assert.ok(test && read(test).includes(page), `${place} is in a language that nothing here checks`)
      }
    }
  })

  it('that are not run are still there', () => {
    for (const [page, begin] of notRun) {
      assert.ok(
        blocks.some((block) => block.page === page && block.language === 'console' && block.text.startsWith(begin)),
        `${page} has no block that begins with ${begin}`,
      )
    }
  })
})

describe('blocks of code for pages and apps', () => {
  const blocks = pages.flatMap(blocksOf)
  for (const [language, checker] of Object.entries(checkers)) {
    it(`hold what they say: ${language}`, () => {
      const found = blocks.filter((block) => block.language === language)
      assert.ok(found.length > 0)
      checker(found)
    })
  }
})

describe('the examples of the pages do what the pages say', { concurrency: 4 }, () => {
  const provider = new ModelServer()
  let baseUrl: string
  const idle: Service[] = []
  after(() => Promise.all(idle.map((service) => service.close())))
  before(async () => {
    provider.behaviour = (call, response) =>
      (call.body.model === 'no-such-model' ? refuses(404) : says('The shop is open from 9:00 to 18:00. [1]'))(call, response)
    baseUrl = await provider.listen()
  })
  after(() => provider.close())

  for (const page of pages) {
    const blocks = blocksOf(page)
    const commands = blocks.filter(isCommand)
    if (commands.length === 0) continue
    // Every agent there is will be asked.
    const isAlone = page.startsWith('docs/providers/')
    it(page, { timeout: PAGE_LIMIT_MS }, async () => {
      const setUp = SELF_CONTAINED.includes(page) ? [] : blocksOf(QUICK_START).filter(isCommand).map(withoutNpm)
      const service =
        (isAlone ? undefined : idle.pop()) ?? (await openService({ REPARTEE_SAMPLE: 'off', ...providersAt(baseUrl) }))
      try {
        const outputs = await runBlocks([...setUp, ...commands], service)
        commands.forEach((block, i) => {
          const next = blocks[blocks.indexOf(block) + 1]
          check(block, next?.language === 'json' ? next : undefined, outputs[setUp.length + i]!)
        })
        for (const [of, text] of promised)
          if (of === page) assert.ok(outputs.join('\n').includes(text), `no answer says: ${text}`)
        if (isAlone) await askAgents(service)
      } finally {
        if (isAlone) await service.close()
        else idle.push(service)
      }
    })
  }
})

describe('the programs of the pages do what the pages say', () => {
  for (const page of pages) {
    const blocks = blocksOf(page)
    const programs = blocks.filter(({ language }) => language === 'ts')
    if (programs.length === 0) continue
    it(page, { timeout: PAGE_LIMIT_MS }, async () => {
      const service = await openService({ REPARTEE_SAMPLE: 'off' })
      try {
        checkTypes(service, programs)
        const output = runProgram(service, programs)
        for (const { language, line, text } of blocks)
          if (language === 'text') assert.ok(output.includes(text), `${page}:${line} is not what is printed:\n${output}`)
      } finally {
        await service.close()
      }
    })
  }
})

describe('the sample agent', () => {
  let service: Service
  before(async () => {
    service = await openService({ REPARTEE_SAMPLE: 'on' })
    await untilReady(service)
  })
  after(() => service.close())

  it('answers the curl that the start prints', async () => {
    const command = service.output.split('\n').find((line) => line.startsWith('curl '))!
    const [answer] = await runBlocks([{ page: 'the start', line: 1, language: 'sh', text: command }], service)
    assert.match(answer!, /"success":true.*in one of four ways/)
  })

  for (const [question, words] of asked) {
    it(`knows what to say to: ${question}`, async () => {
      const [, agentId] = /agents\/([0-9a-f-]{36})/.exec(service.output)!
      const headers = { 'x-api-key': service.key, 'content-type': 'application/json' }
      const post = async (path: string, body: object) => {
        const url = `${service.baseUrl}/agents/${agentId}/sessions${path}`
        return (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as Answer
      }
      const { session } = await post('', {})
      const { aiMessage } = await post(`/${session.id}/messages`, { message: question })
      assert.ok(aiMessage.content.includes(words), aiMessage.content)
    })
  }
})

interface Answer {
  session: { id: string }
  aiMessage: { content: string }
}

function isCommand({ language }: Block): boolean {
  return language === 'sh'
}

/** What npm adds was seen on the page itself; elsewhere it only takes time. */
function withoutNpm(block: Block): Block {
  return { ...block, text: block.text.replaceAll('npm start --', 'node_modules/.bin/node src/start.js') }
}

function check({ page, line }: Block, shown: Block | undefined, output: string): void {
  const place = `${page}:${line}`
  if (shown === undefined) {
    assert.doesNotMatch(output, /"success":false/, `${place} fails`)
    return
  }
  const expected = JSON.parse(shown.text)
  assert.deepEqual(comparable(parse(output, place), expected), comparable(expected), place)
}

interface Service {
  /** As a clone, in which the reader's commands run. */
  folder: string
  /** What the start printed. */
  output: string
  baseUrl: string
  key: string
  close(): Promise<void>
}

/** The service as `npm start` runs it, on a free port and with data of its own. */
async function openService(settings: NodeJS.ProcessEnv): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-docs-'))
  layOutClone(folder)
  const key = makeKey()
  const own = { REPARTEE_PORT: '0', REPARTEE_ADMIN_KEY: key, REPARTEE_LOG_LEVEL: 'silent' }
  const env = { ...cleanEnvironment(), ...own, ...settings }
  const child = launch(process.execPath, ['src/start.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env })
  const close = async () => {
    await killed(child, 'SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  const output = await readGreeting(child)
  return { folder, output, baseUrl: /Base URL: (\S+)/.exec(output)![1]!, key, close }
}

/** A folder that looks as a clone does, with data of its own. Packages are not installed again. */
function layOutClone(folder: string): void {
  for (const name of ['src', 'docs', 'migrations', 'node_modules']) symlinkSync(join(ROOT, name), join(folder, name))
  const { scripts, ...rest } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...rest, scripts: { start: scripts['start'] } }))
}

/** What the reader's own settings are must not change the outcome. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(REPARTEE_|OPENAI_|ANTHROPIC_|GOOGLE_|GEMINI_|OLLAMA_|NODE_TEST)/.test(name),
  )
  return { ...Object.fromEntries(kept), npm_config_update_notifier: 'false' }
}

/** Everything that the start prints, which ends with an empty line. */
function readGreeting(service: ChildProcess): Promise<string> {
  let output = ''
  return new Promise((resolve, reject) => {
    service.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${output}`)))
    service.stdout!.on('data', (chunk) => {
      output += chunk
      if (/Base URL: \S+\n(.*\n)*\n$/.test(output)) resolve(output)
    })
  })
}

/** Waits until the sample agent knows every document. On a slow machine the start does not wait that long. */
async function untilReady({ output, baseUrl, key }: Service): Promise<void> {
  const [, agentId] = /agents\/([0-9a-f-]{36})/.exec(output)!
  const documents = `${baseUrl}/agents/${agentId}/documents?limit=1`
  const count = async (query: string) => {
    const response = await fetch(documents + query, { headers: { 'x-api-key': key } })
    return ((await response.json()) as { pagination: { total: number } }).pagination.total
  }
  await until('documents ready', async () => (await count('&status=ready')) === (await count('')))
}

/** The providers that the pages name, all at one server that speaks the protocols of each. */
function providersAt(baseUrl: string): NodeJS.ProcessEnv {
  const names = ['vllm', 'openrouter']
  return {
    OPENAI_BASE_URL: baseUrl,
    ANTHROPIC_BASE_URL: baseUrl,
    GOOGLE_GENERATIVE_AI_BASE_URL: baseUrl,
    OLLAMA_HOST: new URL(baseUrl).origin,
    REPARTEE_PROVIDERS: JSON.stringify(Object.fromEntries(names.map((name) => [name, { protocol: 'chat', baseUrl }]))),
  }
}

/** Asks every agent that there is something, so that each model which the blocks of a page named has replied. */
async function askAgents({ baseUrl, key }: Service): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const call = async (path: string, body?: object) => {
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    // biome-ignore lint/suspicious/noExplicitAny: what it must hold is asserted
    return (await (await fetch(`${baseUrl}${path}`, init)).json()) as any
  }
  const { agents } = await call('/agents')
  for (const { id, model } of agents) {
    const { session } = await call(`/agents/${id}/sessions`, {})
    const answer = await call(`/agents/${id}/sessions/${session.id}/messages`, { message: 'When is the shop open?' })
    assert.equal(answer.success, true, `${model}: ${JSON.stringify(answer)}`)
    assert.equal(answer.aiMessage.model, model, JSON.stringify(answer))
  }
}

/** Runs the blocks in one shell, as a reader does who pastes one after the other. Resolves to what each of them printed. */
async function runBlocks(blocks: Block[], { folder, baseUrl, key }: Service): Promise<string[]> {
  const at = mkdtempSync(join(folder, 'blocks-'))
  rmSync(join(folder, 'my-docs'), { recursive: true, force: true })
  const script = ['set -e']
  for (const [i, { text }] of blocks.entries()) {
    const own = text.replace(/^BASE=.*$/m, `BASE=${baseUrl}`).replace(/^KEY=.*$/m, `KEY=${key}`)
    writeFileSync(join(at, `${i}.sh`), own)
    script.push(`. ${at}/${i}.sh > ${at}/${i}.out 2> ${at}/${i}.err`)
  }
  const shell = launch('sh', ['-c', script.join('\n')], { cwd: folder, stdio: 'ignore', env: cleanEnvironment(), detached: true })
  const stop = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), PAGE_LIMIT_MS * 0.9)
  const code = await new Promise<number | null>((resolve) => shell.once('exit', resolve))
  clearTimeout(stop)
  const printed = (i: number, end: string) => {
    const path = join(at, `${i}.${end}`)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }
  const last = blocks.findLastIndex((_, i) => printed(i, 'out') !== undefined)
  const { page, line } = blocks[last]!
  assert.equal(code, 0, `${page}:${line} ends with ${code}\n${printed(last, 'out')}\n${printed(last, 'err')}`)
  return blocks.map((_, i) => printed(i, 'out')!)
}

/** The blocks of a page are one program, which begins with its imports. The client is taken from its source. */
const toProgram = (blocks: Block[], baseUrl: string): string => {
  const text = blocks.map((block) => block.text).join('\n')
  return text.replaceAll('http://127.0.0.1:8080/v1', baseUrl)
}

function runProgram({ folder, baseUrl, key }: Service, blocks: Block[]): string {
  const file = join(folder, 'program.ts')
  writeFileSync(file, toProgram(blocks, baseUrl))
  const env = { ...cleanEnvironment(), REPARTEE_KEY: key }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--conditions=repartee-source', file], {
    env,
    encoding: 'utf8',
  })
  assert.equal(status, 0, `${blocks[0]!.page}: ${stderr}`)
  return stdout
}

/** The strictest types that a reader may have. */
function checkTypes({ folder, baseUrl }: Service, blocks: Block[]): void {
  writeFileSync(join(folder, 'program.ts'), toProgram(blocks, baseUrl))
  const compilerOptions = {
    customConditions: ['repartee-source'],
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2024', 'dom', 'dom.iterable'],
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include: ['program.ts'] }),
  )
  const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  assert.equal(stdout, '', blocks[0]!.page)
}

/** The answer of the last command of a block; curl puts no line end between two. */
function parse(output: string, place: string): unknown {
  try {
    return JSON.parse(output.slice(output.lastIndexOf('{"success":')))
  } catch {
    return assert.fail(`${place} answers with something that is no JSON:\n${output}`)
  }
}

const CHANGING: [RegExp, string][] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME'],
  [/^rp[tu]_.+$/, 'KEY'],
  [/^(\d+ \w+|a few seconds) ago$/, 'AGO'],
]
/** Fields whose values are another's business, or differ from one moment to the next. */
const FREE = /^(score|nextCursor)$/

/** An answer with what differs from run to run taken out. Of a list as many items as the page shows. */
function comparable(real: unknown, shown: unknown = real): unknown {
  if (typeof real === 'string') return CHANGING.reduce((text, [pattern, name]) => text.replace(pattern, name), real)
  if (Array.isArray(real)) {
    const items = Array.isArray(shown) ? shown : real
    return real.slice(0, items.length).map((item, i) => comparable(item, items[i]))
  }
  if (typeof real !== 'object' || real === null) return real
  const entries = Object.entries(real).map(([name, value]) => {
    const inner = (shown as Record<string, unknown> | null)?.[name] ?? value
    return [name, FREE.test(name) ? typeof value : comparable(value, inner)]
  })
  return Object.fromEntries(entries)
}
