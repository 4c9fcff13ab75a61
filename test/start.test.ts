// What a start costs is what it loads.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch } from './support/cleanup.ts'

const MAIN = fileURLToPath(new URL('../src/start.js', import.meta.url))
/** Tells at the end of a process what of Node it has loaded, and which packages. */
const TELL = `
import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({ load(url, context, next) { packages.add(/.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]); return next(url, context) } })
process.once('exit', () => console.log('\\nLOADED ' + JSON.stringify({ packages: [...packages], builtins: process.moduleLoadList })))`

interface Loaded {
  packages: string[]
  builtins: string[]
}

async function start(data: string): Promise<Loaded> {
  const { NODE_COMPILE_CACHE: _, ...env } = process.env
  const child = launch(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`, MAIN], {
    env: { ...env, REPARTEE_PORT: '0', REPARTEE_DATA: data, REPARTEE_SAMPLE: 'off' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout!) {
    printed += chunk
    // Once: what was compiled is put away at the very end.
    if (printed.includes('Base URL') && !child.killed) child.kill()
  }
  return JSON.parse(/^LOADED (.*)$/m.exec(printed)![1]!)
}

test('a service has the same heap however it is started', () => {
  const flags = (file: string, command: RegExp) =>
    command.exec(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))?.[0].match(/--max-semi-space-size=\d+/)?.[0]
  const flag = flags('package.json', /"start": .*/)
  assert.ok(flag)
  assert.equal(flags('deploy/Dockerfile', /^ENTRYPOINT .*/m), flag)
  assert.equal(flags('deploy/repartee.service', /^ExecStart=.*/m), flag)
})

describe('a start', () => {
  const data = mkdtempSync(join(tmpdir(), 'repartee-start-'))
  let loaded: Loaded
  before(async () => {
    // The first one leaves what it compiled.
    await start(data)
    loaded = await start(data)
  })
  after(() => rmSync(data, { recursive: true, force: true }))

  test('loads no package that a later request may need', () => {
    const later = ['ajv', '@fastify/busboy', 'pg', 'pdfjs-dist', 'sanitize-html', 'markdown-it', '@ai-sdk/openai', 'jschardet']
    assert.deepEqual(
      later.filter((name) => loaded.packages.includes(name)),
      [],
    )
    assert.ok(loaded.packages.includes('fastify'))
  })

  test('loads neither the client of fetch nor the compiler of TypeScript', () => {
    assert.deepEqual(
      loaded.builtins.filter((name) => /deps\/(undici|amaro)/.test(name)),
      [],
    )
  })
})
