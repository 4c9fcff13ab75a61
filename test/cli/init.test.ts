import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { findModels } from '../../src/cli/init/models.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { inTerminal } from '../support/pseudo-terminal.ts'
import { type Service, startService } from '../support/service.ts'
import { repartee, start } from './repartee.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-init-'))
const shop = join(root, 'The shop')
const empty = join(root, 'empty')
/** Whatever runs on this machine is not what is tested. */
const NO_OLLAMA = { OLLAMA_HOST: '127.0.0.1:9' }
const ownData = (): Record<string, string> => ({
  ...{ REPARTEE_DATA: mkdtempSync(join(root, 'data-')), REPARTEE_PORT: '0' },
  ...NO_OLLAMA,
})

before(() => {
  mkdirSync(shop)
  mkdirSync(empty)
  writeFileSync(join(empty, 'picture.png'), 'x')
  writeFileSync(
    join(shop, 'shop.md'),
    '# The shop\n\n## Opening hours\n\nThe shop is open from Monday to Saturday, from 9:00 to 18:00.\n\n## Gift cards\n\nGift cards are valid for two years.\n',
  )
})
after(() => rmSync(root, { recursive: true }))

describe('init without a service', () => {
  test('asks three questions in a terminal, starts one, and answers from the folder', async () => {
    const { child, expect, type, shown, ended } = inTerminal(['init'], { ...ownData(), npm_lifecycle_event: 'start' })
    await expect('Which folder holds your documents?')
    type(join(root, 'nowhere'))
    await expect('There is no folder')
    type(empty)
    await expect('There are no documents in')
    type(`'${shop}'`)
    await expect('1 document there.')
    await expect(/What should the agent be called\?.*\[The shop\]/)
    type('Help desk')
    await expect(/1\) extractive .*Which model writes the replies\?/s)
    type('7')
    await expect('There is no model 7.')
    type('')
    await expect(/A first question: {3}\S*What are the opening hours\?/)
    await expect('The shop is open from Monday to Saturday, from 9:00 to 18:00. [1]')
    await expect('[1] The shop — ')
    await expect('npm start -- chat "Help desk"')
    const [, origin] = /Console: {8}(\S+)\/console\//.exec(shown())!
    await expect(/Admin key, shown this once; keep it: {3}\S*rpt_\w{40}/)
    await expect('This starts it again:   npm start')
    assert.equal((await fetch(`${origin}/readyz`)).status, 200)
    assert.doesNotMatch(shown(), /"msg":"request"/, 'requests are not logged among it')
    child.stdin!.write('\x03')
    assert.equal(await ended, 0)
  })

  test('makes nothing when it is stopped at a question', async () => {
    const { child, expect, ended } = inTerminal(['init', '--folder', shop], ownData())
    await expect('What should the agent be called?')
    child.stdin!.write('\x03')
    await expect('Stopped: nothing was made.')
    assert.equal(await ended, 130)
  })

  test('offers one model of each provider, and the Ollama of this machine with the setting that it needs', async (t) => {
    const names = ['nomic-embed-text:latest', 'llama3.2:latest', 'qwen3:4b']
    const ollama = createServer((_, response) => response.end(JSON.stringify({ models: names.map((name) => ({ name })) })))
    await once(ollama.listen(0, '127.0.0.1'), 'listening')
    t.after(() => ollama.close())
    const address = `127.0.0.1:${(ollama.address() as AddressInfo).port}`
    assert.deepEqual(await findModels({}, undefined, address), {
      models: ['ollama/llama3.2', 'extractive'],
      env: { OLLAMA_HOST: address },
    })
    assert.deepEqual(await findModels({ OLLAMA_HOST: address, REPARTEE_MODEL: 'ollama/qwen3:4b' }, undefined), {
      models: ['ollama/qwen3:4b', 'ollama/llama3.2', 'extractive'],
      env: {},
    })
    assert.deepEqual(await findModels({}, undefined, '127.0.0.1:9'), { models: ['extractive'], env: {} })
  })

  test('with flags asks nothing, and ends as a service does', async () => {
    const { child, printed, ended } = start(['init', '--folder', shop, '--model', 'extractive'], {
      ...ownData(),
      // A slow machine logs that it is slow.
      REPARTEE_LOG_LEVEL: 'error',
    })
    await until('it is ready', () => /runs until Ctrl\+C/.test(printed()))
    assert.match(printed(), /^\nThe agent "The shop" learns from/)
    assert.match(printed(), /A first question: .*from 9:00 to 18:00\. \[1\]\n\n\[1\] The shop/s)
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
  })

  test('says what to pass where nobody can be asked, and leaves nothing behind', async () => {
    const env = ownData()
    const { code, stdout, stderr } = await repartee(['init'], env)
    assert.deepEqual([code, stdout], [2, ''])
    assert.match(stderr, /nobody here to ask: say --folder <folder>/)
    const nothing = await repartee(['init', '--folder', empty], env)
    assert.equal(nothing.code, 1)
    assert.match(nothing.stderr, /There are no documents in .*Skipped 1: 1 of another kind \(\.png\)/)
    assert.equal((await repartee(['agents'], env)).code, 4)
  })

  test('with a model that the service does not have ends, and so does the service', async () => {
    const { code, stderr } = await repartee(['init', '--folder', shop, '--model', 'nobody/nothing'], ownData())
    assert.equal(code, 1)
    assert.match(stderr, /nobody\/nothing|nobody/)
  })
})

describe('init beside a running service', () => {
  let service: Service
  before(async () => {
    service = await startService({ OPENAI_API_KEY: 'sk-x' })
    service.model.behaviour = says('From 9:00 to 18:00. [1]')
  })
  after(() => service.stop())
  const beside = () => ({ REPARTEE_DATA: service.data })

  test('uses it, and is done when the question is answered', async () => {
    const { code, stdout, stderr } = await repartee(['init', '--folder', shop, '--model', 'extractive', '--yes'], beside())
    assert.equal(code, 0, stderr)
    assert.match(stdout, /from 9:00 to 18:00\. \[1\]/)
    assert.match(stdout, new RegExp(`Console: {8}${new URL(service.client.address.baseUrl).origin}/console/`))
    assert.doesNotMatch(stdout, /Admin key|Ctrl\+C/)
  })

  test('run again, brings the same agent up to date', async () => {
    writeFileSync(join(shop, 'parking.md'), '# Parking\n\nThere are forty places behind the house.\n')
    const { code, stdout } = await repartee(['init', '--folder', shop, '--model', 'openai/stub'], beside())
    assert.equal(code, 0)
    assert.match(stdout, /2 files: 1 new, 0 changed, 1 unchanged/)
    const { agents } = (await service.client.get('/agents')).body
    assert.deepEqual(
      agents.map(({ name, model }: { name: string; model: string }) => [name, model]),
      [['The shop', 'openai/stub']],
    )
  })
})
