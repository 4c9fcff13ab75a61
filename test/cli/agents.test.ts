import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const options = { skip: needsProcess }
let service: Service
let env: Record<string, string>
before(async () => {
  if (needsProcess) return
  service = await startService()
  env = { REPARTEE_DATA: service.data }
})
after(() => service?.stop())

const create = async (name: string, ...more: string[]) => {
  const { code, stdout, stderr } = await repartee(['agents', 'create', name, ...more, '--json'], env)
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout).agent
}

test('an agent is created with its settings, shown by name, listed, and deleted', options, async () => {
  const agent = await create('Whole life', '--model', 'openai/stub', '--instructions', 'Be brief.', '--follow-ups')
  assert.equal(agent.model, 'openai/stub')
  assert.equal(agent.instructions, 'Be brief.')
  assert.equal(agent.followUps.enabled, true)

  const shown = await repartee(['agents', 'show', 'whole LIFE'], env)
  assert.match(shown.stdout, new RegExp(`id +${agent.id}\\n.*holds +0 documents.*Instructions\\n +Be brief\\.`, 's'))

  const listed = await repartee(['agents', 'list'], env)
  assert.match(listed.stdout, new RegExp(`^${agent.id} .*openai/stub +Whole life$`, 'm'))

  assert.equal((await repartee(['agents', 'delete', agent.id, '--yes'], env)).code, 0)
  const gone = await repartee(['agents', 'show', agent.id], env)
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /no agent with the id .*`repartee agents` lists them/)
})

test('--json prints one document and nothing else', options, async () => {
  const { id } = await create('For programs')
  const list = JSON.parse((await repartee(['agents', '--json'], env)).stdout)
  assert.ok(list.agents.some((agent: { id: string }) => agent.id === id))
  const { agent } = JSON.parse((await repartee(['agents', 'show', id, '--json'], env)).stdout)
  assert.deepEqual(agent.stats, { sessions: 0, messages: 0, documents: 0, passages: 0 })
})

test('instructions are read from a file; a file that is not there is an error and no instruction', options, async () => {
  const file = join(service.data, 'how.md')
  writeFileSync(file, 'From a file.\n')
  assert.equal((await create('By file', '--instructions', file)).instructions, 'From a file.\n')
  const { code, stderr } = await repartee(['agents', 'create', 'By slip', '--instructions', 'hwo.md'], env)
  assert.equal(code, 1)
  assert.match(stderr, /There is no file hwo\.md/)
})

test('nothing is deleted without --yes; the message says what would be lost', options, async () => {
  const { id } = await create('Precious')
  const { code, stderr } = await repartee(['agents', 'delete', 'Precious'], env)
  assert.equal(code, 2)
  assert.match(stderr, /"Precious" with 0 sessions and 0 documents, for good\. Say --yes/)
  assert.equal((await service.client.get(`/agents/${id}`)).status, 200)
})

test('an unambiguous beginning of a name is enough, but not for deleting', options, async () => {
  const { id } = await create('Zanzibar travel')
  assert.match((await repartee(['agents', 'show', 'zanz'], env)).stdout, new RegExp(id))
  const { code } = await repartee(['agents', 'delete', 'zanz', '--yes'], env)
  assert.equal(code, 1)
  assert.equal((await service.client.get(`/agents/${id}`)).status, 200)
})

test('a name that several agents have is refused with their ids', options, async () => {
  const [first, second] = [await create('Twin'), await create('Twin')]
  const { code, stderr } = await repartee(['agents', 'show', 'Twin'], env)
  assert.equal(code, 1)
  assert.match(stderr, /More than one agent answers to "Twin"/)
  for (const { id } of [first, second]) assert.ok(stderr.includes(id))
})

test('a name that nobody has is answered with the near ones, and with how to create it', options, async () => {
  await create('Suport')
  const { code, stderr } = await repartee(['agents', 'show', 'Support'], env)
  assert.equal(code, 1)
  assert.match(stderr, /no agent "Support"\. `repartee agents create "Support"` makes one\. Did you mean:\n {2}\S+ {2}Suport\n$/)
})

test('a model that the service cannot use is refused in its words', options, async () => {
  const { code, stderr } = await repartee(['agents', 'create', 'Odd', '--model', 'nobody/nothing'], env)
  assert.equal(code, 1)
  assert.match(stderr, /body\.model/)
})
