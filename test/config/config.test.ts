import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { makeKey } from '../../src/access/key-format.ts'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { settings } from '../../src/config/settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-config-'))
after(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: string) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('settings', () => {
  test('without any there are defaults for all that need one', () => {
    const config = loadConfig({})
    assert.deepEqual(
      [config.host, config.port, config.data, config.sample, config.adminKey],
      ['127.0.0.1', 8080, './data', true, undefined],
    )
    assert.ok(Object.isFrozen(config))
  })

  test('the environment comes before the file, and the file before the default', () => {
    const REPARTEE_CONFIG = file('a.json', '{"port": 1, "maxNameChars": 7}')
    const config = loadConfig({ REPARTEE_CONFIG, REPARTEE_PORT: '2' })
    assert.deepEqual([config.port, config.maxNameChars], [2, 7])
  })

  test('every problem is told at once, by name and without a value', () => {
    const secret = 'not-a-key-but-secret'
    const wrong = {
      REPARTEE_PORT: '99999',
      REPARTEE_SAMPLE: 'perhaps',
      REPARTEE_ADMIN_KEY: secret,
      OPENAI_BASE_URL: 'nowhere',
      REPARTEE_LOG_LEVEL: 'x',
    }
    assert.throws(
      () => loadConfig(wrong),
      (error: Error) => {
        assert.ok(error instanceof ConfigError)
        for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(name))
        assert.doesNotMatch(error.message, new RegExp(secret))
        return true
      },
    )
  })

  test('a secret may come from a file', () => {
    const key = makeKey()
    assert.equal(loadConfig({ REPARTEE_ADMIN_KEY_FILE: file('key', `${key}\n`) }).adminKey, key)
    assert.throws(() => loadConfig({ REPARTEE_ADMIN_KEY_FILE: join(folder, 'nothing') }), /REPARTEE_ADMIN_KEY_FILE/)
  })

  test('a file with a setting that is not known, or no JSON, is refused', () => {
    assert.throws(() => loadConfig({ REPARTEE_CONFIG: file('b.json', '{"prot": 1}') }), /prot is not a setting/)
    assert.throws(() => loadConfig({ REPARTEE_CONFIG: file('c.json', '{') }), /not valid JSON/)
  })

  test('an empty variable counts as unset', () => {
    assert.equal(loadConfig({ REPARTEE_PORT: '', OPENAI_API_KEY: '' }).port, 8080)
  })

  test('names in the environment and in the file belong together', () => {
    for (const [name, { env }] of Object.entries(settings)) {
      if (!env.startsWith('REPARTEE_')) continue
      assert.equal(
        env
          .slice('REPARTEE_'.length)
          .toLowerCase()
          .replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        name,
      )
    }
  })
})
