import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { repartee } from './repartee.ts'

const empty = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
after(() => rmSync(empty, { recursive: true }))
const env = { REPARTEE_DATA: empty }

const COMMANDS = [
  ...['serve', 'agents list', 'agents create', 'agents show', 'agents delete'],
  ...['knowledge add', 'knowledge list', 'knowledge search', 'knowledge remove', 'chat'],
  ...['keys generate', 'keys create', 'keys list', 'keys revoke', 'keys roll', 'doctor'],
]

test('--help lists every command and the exit codes', async () => {
  const { code, stdout } = await repartee(['--help'], env)
  assert.equal(code, 0)
  for (const name of COMMANDS) assert.match(stdout, new RegExp(`^  repartee ${name}\\b`, 'm'))
  assert.match(stdout, /Exit codes: 0 .* 130/)
})

test('each command explains itself with --help, and its usage begins with its name', async () => {
  const pages = await Promise.all(
    COMMANDS.map(async (name) => ({ name, ...(await repartee([...name.split(' '), '--help'], env)) })),
  )
  for (const { name, code, stdout } of pages) {
    assert.equal(code, 0, name)
    assert.ok(stdout.startsWith(`usage: repartee ${name}`), stdout)
  }
})

test('a group explains its commands with --help', async () => {
  const { code, stdout } = await repartee(['knowledge', '--help'], env)
  assert.equal(code, 0)
  assert.match(stdout, /knowledge add .*knowledge remove/s)
  assert.doesNotMatch(stdout, /repartee agents/)
})

test('--version prints the version', async () => {
  const { code, stdout } = await repartee(['--version'], env)
  assert.equal(code, 0)
  assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/)
})

const slips: { args: string[]; says: RegExp }[] = [
  { args: ['agnets'], says: /no command "agnets"\. Did you mean "agents"\?/ },
  { args: ['agents', 'crate'], says: /no command "agents crate"\. Did you mean "agents create"\?/ },
  { args: ['xylophone'], says: /no command "xylophone"\. `repartee --help`/ },
  { args: ['knowledge'], says: /Say what to do with knowledge:\n {2}repartee knowledge add/ },
  { args: ['agents', 'list', '--jsno'], says: /no option --jsno\. Did you mean "--json"\?\nusage: repartee agents list/ },
  { args: ['agents', '--jsno'], says: /Did you mean "--json"\?/ },
  { args: ['agents', 'create', 'a', '--model'], says: /--model/ },
  { args: ['agents', 'create'], says: /<name> is missing\.\nusage: repartee agents create <name>/ },
  { args: ['knowledge', 'add', 'Support'], says: /<file\|folder> is missing/ },
  { args: ['agents', 'show', 'My', 'agent'], says: /Too many arguments: "agent"\. A name with spaces needs quotes/ },
  { args: ['--prot', '80'], says: /no option --prot/ },
]
for (const { args, says } of slips) {
  test(`\`repartee ${args.join(' ')}\` is wrong usage: exit code 2, and help on stderr alone`, async () => {
    const { code, stdout, stderr } = await repartee(args, env)
    assert.equal(code, 2, stderr)
    assert.match(stderr, says)
    assert.equal(stdout, '')
  })
}

test('in the folder of a clone, help and errors name commands as npm takes them', async () => {
  const npm = { ...env, npm_lifecycle_event: 'start' }
  const { stdout } = await repartee(['knowledge', 'add', '--help'], npm)
  assert.match(stdout, /^usage: npm start -- knowledge add </)
  const { stderr } = await repartee(['agents'], npm)
  assert.match(stderr, /Start one with `npm start`, name/)
})
