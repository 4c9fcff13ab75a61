import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const options = { skip: needsProcess }
let service: Service
let env: Record<string, string>
let docs: string
before(async () => {
  if (needsProcess) return
  service = await startService()
  env = { REPARTEE_DATA: service.data }
  await service.newAgent({ name: 'House', model: 'extractive' })
  docs = join(service.data, 'docs')
  mkdirSync(docs)
  writeFileSync(join(docs, 'holidays.md'), '# Holidays\n\nEvery employee has 30 days of paid holiday a year.\n')
  writeFileSync(join(docs, 'canteen.txt'), 'The canteen on the ground floor opens at noon.\n')
  writeFileSync(join(docs, 'parking.html'), '<title>Parking</title><p>Parking on level 3 of the garage is free.</p>')
  writeFileSync(join(docs, 'blank.md'), ' \n')
  const { stdout, stderr, code } = await repartee(['knowledge', 'add', 'House', docs], env)
  assert.equal(code, 1, stderr)
  assert.match(stdout, /^failed {2}\S+blank\.md: .+$/m)
  assert.match(stdout, /^4 files: 3 ready, 1 failed\.$/m)
})
after(() => service?.stop())

test('what was added is listed with its state, and a failed document with its reason', options, async () => {
  const { code, stdout, stderr } = await repartee(['knowledge', 'list', 'House'], env)
  assert.equal(code, 0)
  for (const title of ['Holidays', 'Parking']) assert.match(stdout, new RegExp(`^\\S+ +\\S+ \\S+ +ready +1 +${title}$`, 'm'))
  assert.match(stderr, /failed: .*no text/)
  const { documents } = JSON.parse((await repartee(['knowledge', 'list', 'House', '--json'], env)).stdout)
  assert.equal(documents.length, 4)
})

test('adding the same again changes nothing', options, async () => {
  const { stdout } = await repartee(['knowledge', 'add', 'House', join(docs, 'holidays.md'), join(docs, 'canteen.txt')], env)
  assert.match(stdout, /^2 files: 0 ready, 2 known already, 0 failed\.$/m)
})

test('a file that is too large for the service does not keep the others out', options, async () => {
  const large = join(docs, 'large.txt')
  writeFileSync(large, '')
  truncateSync(large, 80 * 1_048_576)
  writeFileSync(join(docs, 'lift.md'), 'The lift is out of order.')
  const { code, stdout, stderr } = await repartee(['knowledge', 'add', 'House', large, join(docs, 'lift.md')], env)
  assert.equal(code, 1, stderr)
  assert.match(stdout, /^failed {2}\S+large\.txt: .*large/m)
  assert.match(stdout, /^2 files: 1 ready, 1 failed\.$/m)
})

test('a search shows the passages with their scores, best first', options, async () => {
  const { code, stdout } = await repartee(['knowledge', 'search', 'House', 'When', 'does', 'the', 'canteen', 'open?'], env)
  assert.equal(code, 0)
  assert.match(stdout, /^1\. .*\(\d[\d.e+-]*\)\n {3}The canteen on the ground floor opens at noon\./)
  const { hits } = JSON.parse((await repartee(['knowledge', 'search', 'House', 'canteen', '--top', '1', '--json'], env)).stdout)
  assert.equal(hits.length, 1)
})

test('the agent answers from what was added, in a conversation, with its source', options, async () => {
  const { code, stdout, stderr } = await repartee(['chat', 'House'], env, 'How many days of holiday does an employee have?\n')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /30 days/)
  assert.match(stdout, /^\[1\] Holidays — .*30 days/m)
})

test('a document is removed by its title; a slip in the title is answered with the near one', options, async () => {
  const slip = await repartee(['knowledge', 'remove', 'House', 'Parkin'], env)
  assert.equal(slip.code, 1)
  assert.match(slip.stderr, /no document "Parkin"\. Did you mean "Parking"\?/)
  assert.equal((await repartee(['knowledge', 'remove', 'House', 'Parking'], env)).code, 0)
  const { stdout } = await repartee(['knowledge', 'search', 'House', 'parking level 3 garage'], env)
  assert.doesNotMatch(stdout, /garage/)
})

test(
  'a folder is kept in step: new files are added, changed ones replaced, gone ones removed, others left alone',
  options,
  async () => {
    const agent = await service.newAgent({ name: 'Synced', model: 'extractive' })
    const list = async () => {
      const { documents } = (await service.client.get(`/agents/${agent}/documents`)).body as {
        documents: { id: string; title: string; metadata: { file?: string } }[]
      }
      return new Map(documents.map(({ id, title, metadata }) => [metadata.file ?? title, id]))
    }
    const folder = join(service.data, 'wiki')
    mkdirSync(join(folder, 'deep'), { recursive: true })
    writeFileSync(join(folder, 'a.md'), '# Almonds\n\nAlmonds are white.\n')
    writeFileSync(join(folder, 'deep', 'b.txt'), 'Walnuts are brown.\n')
    writeFileSync(join(folder, 'logo.png'), 'x')
    await repartee(['knowledge', 'add', 'Synced', join(docs, 'canteen.txt')], env)

    const first = await repartee(['knowledge', 'sync', 'Synced', folder], env)
    assert.equal(first.code, 0, first.stderr)
    assert.match(first.stdout, /^2 files: 2 new, 0 changed, 0 unchanged; 0 documents to remove\.$/m)
    assert.match(first.stdout, /1 of another kind/)
    const before = await list()
    assert.deepEqual([...before.keys()].sort(), ['a.md', 'canteen.txt', 'deep/b.txt'])

    const again = await repartee(['knowledge', 'sync', 'Synced', folder], env)
    assert.match(again.stdout, /^2 files: 0 new, 0 changed, 2 unchanged; 0 documents to remove\.$/m)

    const almonds = `/agents/${agent}/documents/${before.get('a.md')}`
    const { metadata } = (await service.client.get(almonds)).body.document
    await service.client.patch(almonds, { metadata: { ...metadata, lang: 'en' } })
    writeFileSync(join(folder, 'a.md'), '# Almonds\n\nAlmonds are green.\n')
    rmSync(join(folder, 'deep', 'b.txt'))
    writeFileSync(join(folder, 'c.md'), '# Hazels\n\nHazels are red.\n')
    const dry = await repartee(['knowledge', 'sync', 'Synced', folder, '--dry-run'], env)
    assert.match(
      dry.stdout,
      /1 new, 1 changed, 0 unchanged; 1 document to remove\.\nnew {6}\S+c\.md\nchanged {2}\S+a\.md\ngone {5}deep\/b\.txt/,
    )
    assert.deepEqual(await list(), before)

    const { removed, unchanged } = JSON.parse((await repartee(['knowledge', 'sync', 'Synced', folder, '--json'], env)).stdout)
    assert.deepEqual([removed, unchanged], [['deep/b.txt'], 0])
    const after = await list()
    assert.deepEqual([...after.keys()].sort(), ['a.md', 'c.md', 'canteen.txt'])
    assert.equal(after.get('a.md'), before.get('a.md'))
    assert.equal((await service.client.get(almonds)).body.document.metadata.lang, 'en')
    const { hits } = (await service.client.post(`/agents/${agent}/search`, { query: 'almonds' })).body as {
      hits: { text: string }[]
    }
    assert.equal(hits.length, 1)
    assert.match(hits[0]!.text, /green/)
  },
)

test('a file that moved within the folder stays, and so do two that are alike', options, async () => {
  const agent = await service.newAgent({ name: 'Moved', model: 'extractive' })
  const folder = join(service.data, 'shelf')
  mkdirSync(join(folder, 'old'), { recursive: true })
  mkdirSync(join(folder, 'new'))
  writeFileSync(join(folder, 'old', 'a.md'), '# Almonds\n\nAlmonds are white.\n')
  await repartee(['knowledge', 'sync', 'Moved', folder], env)
  const files = async () =>
    ((await service.client.get(`/agents/${agent}/documents`)).body.documents as { metadata: { file: string } }[]).map(
      ({ metadata }) => metadata.file,
    )
  rmSync(join(folder, 'old', 'a.md'))
  writeFileSync(join(folder, 'new', 'a.md'), '# Almonds\n\nAlmonds are white.\n')
  assert.equal((await repartee(['knowledge', 'sync', 'Moved', folder], env)).code, 0)
  assert.deepEqual(await files(), ['new/a.md'])
  writeFileSync(join(folder, 'old', 'a.md'), '# Almonds\n\nAlmonds are white.\n')
  await repartee(['knowledge', 'sync', 'Moved', folder], env)
  const { stdout } = await repartee(['knowledge', 'sync', 'Moved', folder], env)
  assert.match(stdout, /^2 files: 0 new, 0 changed, 2 unchanged; 0 documents to remove\.$/m)
  assert.equal((await files()).length, 1)
  rmSync(join(folder, 'new', 'a.md'))
  await repartee(['knowledge', 'sync', 'Moved', folder], env)
  assert.deepEqual(await files(), ['old/a.md'])
})

test('a document that was there before stays when its twin leaves the folder', options, async () => {
  const agent = await service.newAgent({ name: 'Twins', model: 'extractive' })
  const [one, other] = [join(service.data, 'one'), join(service.data, 'other')]
  for (const folder of [one, other]) mkdirSync(folder)
  const write = (folder: string, file: string) => writeFileSync(join(folder, file), `# ${file}\n\nAlmonds are white.\n`)
  write(one, 'by-hand.md')
  await repartee(['knowledge', 'add', 'Twins', join(one, 'by-hand.md')], env)
  for (const folder of [one, other]) write(folder, 'shared.md')
  write(one, 'rest.md')
  await repartee(['knowledge', 'sync', 'Twins', other], env)
  await repartee(['knowledge', 'sync', 'Twins', one], env)
  for (const file of ['by-hand.md', 'shared.md']) rmSync(join(one, file))
  assert.equal((await repartee(['knowledge', 'sync', 'Twins', one], env)).code, 0)
  const { documents } = (await service.client.get(`/agents/${agent}/documents`)).body
  assert.deepEqual(documents.map(({ title }: { title: string }) => title).toSorted(), ['by-hand.md', 'rest.md', 'shared.md'])
})

test('a folder that is empty all at once removes nothing unless told so', options, async () => {
  const agent = await service.newAgent({ name: 'Emptied', model: 'extractive' })
  const folder = join(service.data, 'drive')
  mkdirSync(folder)
  writeFileSync(join(folder, 'a.md'), '# Almonds\n\nAlmonds are white.\n')
  await repartee(['knowledge', 'sync', 'Emptied', folder], env)
  rmSync(join(folder, 'a.md'))
  const total = async () => (await service.client.get(`/agents/${agent}/documents`)).body.pagination.total as number
  const refused = await repartee(['knowledge', 'sync', 'Emptied', folder], env)
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /--empty/)
  assert.equal(await total(), 1)
  assert.equal((await repartee(['knowledge', 'sync', 'Emptied', folder, '--empty'], env)).code, 0)
  assert.equal(await total(), 0)
})

test('a folder that is not there cannot be synced, and nothing is removed', options, async () => {
  const { code, stderr } = await repartee(['knowledge', 'sync', 'House', join(service.data, 'nowhere')], env)
  assert.equal(code, 1)
  assert.match(stderr, /There is no folder/)
})

test('control characters in names of files do not reach the terminal', options, async () => {
  await service.newAgent({ name: 'Hostile', model: 'extractive' })
  const folder = mkdtempSync(join(service.data, 'hostile-'))
  writeFileSync(join(folder, 'a\u001b[2J\nready.md'), '# A')
  writeFileSync(join(folder, 'b.\u001b[31mx'), 'x')
  const commands = [['sync', '--dry-run'], ['add'], ['sync']]
  for (const [command, ...more] of commands) {
    const { stdout, stderr } = await repartee(['knowledge', command!, 'Hostile', folder, ...more], env)
    assert.match(stdout, /a\ufffd\[2J\ufffdready\.md/, stderr)
    assert.match(stdout, /another kind \(\.\ufffd\[31mx\)/)
    assert.ok(!(stdout + stderr).includes('\u001b'))
  }
})
