import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { commands } from '../../src/cli/registry.ts'
import { programInTerminal } from '../support/pseudo-terminal.ts'
import { repartee } from './repartee.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-completion-'))
const files: Record<string, string> = {}
before(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await repartee(['completion', shell], {})
    assert.equal(code, 0)
    files[shell] = join(folder, `_repartee.${shell}`)
    writeFileSync(files[shell], stdout)
  }
  writeFileSync(join(folder, 'handbook.md'), 'x')
})
after(() => rmSync(folder, { recursive: true }))

/** What a shell offers behind these words, the last of which is being typed. */
type Offer = (words: string[]) => string[]

const cases: { typed: string[]; offers: string[]; exactly?: boolean; not?: string }[] = [
  { typed: ['know'], offers: ['knowledge'], exactly: true },
  { typed: ['knowledge', ''], offers: ['add', 'sync', 'list', 'search', 'remove'], exactly: true },
  { typed: ['agents', 'create', '--'], offers: ['--model', '--instructions', '--follow-ups', '--json', '--help'], exactly: true },
  { typed: ['keys', 'r'], offers: ['revoke', 'roll'], exactly: true },
  { typed: ['eval', 'shop', '--n'], offers: ['--no-worse'], exactly: true },
  { typed: ['completion', ''], offers: ['bash', 'zsh', 'fish'] },
  { typed: ['knowledge', 'add', 'shop', 'hand'], offers: ['handbook.md'], exactly: true },
  { typed: ['init', '--folder', ''], offers: ['handbook.md'], not: '--name' },
]

function offersAll(offer: Offer): void {
  for (const { typed, offers, exactly, not } of cases) {
    const offered = offer(typed)
    for (const word of offers) assert.ok(offered.includes(word), `${typed.join(' ')}: ${offered.join(' ')}`)
    if (not !== undefined) assert.ok(!offered.includes(not), `${typed.join(' ')}: ${offered.join(' ')}`)
    if (exactly) assert.deepEqual(offered.toSorted(), offers.toSorted(), typed.join(' '))
  }
  const groups = new Set(Object.keys(commands).map((name) => name.split(' ', 1)[0]!))
  for (const name of groups) assert.ok(offer(['']).includes(name), name)
}

describe('shell completion', () => {
  test('bash offers commands, their options, and paths', () => {
    offersAll((words) => {
      const script = `source "$1"; shift; COMP_WORDS=(repartee "$@"); COMP_CWORD=$#; _repartee; printf '%s\\n' "\${COMPREPLY[@]}"`
      const args = ['--norc', '-c', script, 'bash', files['bash']!, ...words]
      return execFileSync('bash', args, { cwd: folder, encoding: 'utf8' }).trim().split('\n')
    })
  })

  test('fish offers the same', () => {
    offersAll((words) => {
      const args = ['--no-config', '-c', `source ${files['fish']}; complete -C 'repartee ${words.join(' ')}'`]
      const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder }
      const lines = execFileSync('fish', args, { cwd: folder, encoding: 'utf8', env }).trim().split('\n')
      return lines.map((line) => line.split('\t', 1)[0]!)
    })
  })

  test('zsh completes what is typed', async () => {
    const { child, type, press, expect, ended } = programInTerminal(['zsh', '-f', '-i'], { HOME: folder, PS1: '' }, folder)
    type(`autoload -Uz compinit; compinit -u -D; source ${files['zsh']}; repartee() { echo "got:$*:"; }; echo 'is 'ready`)
    await expect('is ready')
    for (const [typed, done] of [
      ['repartee know\tad\tsupport --no-w\thandb\t', 'got:knowledge add support --no-wait handbook.md:'],
      ['repartee init --fol\thandb\t', 'got:init --folder handbook.md:'],
      ['repartee completion fi\t', 'got:completion fish:'],
      ['repartee keys ro\tx --ov\t1h', 'got:keys roll x --overlap 1h:'],
    ] as const) {
      press(`${typed}\n`)
      await expect(done)
    }
    type('exit')
    assert.equal(await ended, 0)
    child.kill()
  })

  test('another shell is refused, with the ones that there are', async () => {
    const { code, stderr } = await repartee(['completion', 'bsh'], {})
    assert.equal(code, 2)
    assert.match(stderr, /no completion for bsh\. Did you mean bash\? There are bash, zsh, fish\./)
  })
})
