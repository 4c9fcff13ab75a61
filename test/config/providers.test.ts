import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { toOllamaUrl } from '../../src/config/parse-providers.ts'
import { providersOf } from '../../src/config/providers.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-providers-'))
after(() => rmSync(folder, { recursive: true }))
const configured = (providers: unknown, env: Record<string, string> = {}) => {
  const path = join(folder, 'repartee.json')
  writeFileSync(path, JSON.stringify({ providers }))
  return providersOf(loadConfig({ ...env, REPARTEE_CONFIG: path }))
}

describe('providers that are known by name', () => {
  const found = (env: Record<string, string>) =>
    providersOf(loadConfig(env)).map((p) => [p.name, p.protocol, p.baseUrl, p.apiKey])

  test('are there when their key or their address is set', () => {
    assert.deepEqual(found({}), [])
    assert.deepEqual(found({ OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GEMINI_API_KEY: 'c', OLLAMA_HOST: 'box' }), [
      ['openai', 'chat', 'https://api.openai.com/v1', 'a'],
      ['anthropic', 'anthropic', 'https://api.anthropic.com/v1', 'b'],
      ['google', 'google', 'https://generativelanguage.googleapis.com/v1beta', 'c'],
      ['ollama', 'ollama', 'http://box:11434', undefined],
    ])
    assert.deepEqual(found({ OPENAI_BASE_URL: 'http://x/v1', REPARTEE_OPENAI_PROTOCOL: 'responses' }), [
      ['openai', 'responses', 'http://x/v1', undefined],
    ])
    const both = { GEMINI_API_KEY: 'c', GOOGLE_GENERATIVE_AI_API_KEY: 'd', GOOGLE_GENERATIVE_AI_BASE_URL: 'http://g' }
    assert.deepEqual(found(both), [['google', 'google', 'http://g', 'd']])
  })

  test('what is wrong with their settings stops the start', () => {
    const wrong = {
      REPARTEE_OPENAI_PROTOCOL: 'grpc',
      ANTHROPIC_BASE_URL: 'nowhere',
      GOOGLE_GENERATIVE_AI_BASE_URL: 'ftp://x',
      OLLAMA_HOST: 'a b',
      ANTHROPIC_API_KEY: 'secret\nsecret',
    }
    assert.throws(
      () => loadConfig(wrong),
      (error: Error) => {
        for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(name))
        assert.doesNotMatch(error.message, /secret|grpc|nowhere/)
        return error instanceof ConfigError
      },
    )
  })

  for (const [given, url] of Object.entries({
    localhost: 'http://localhost:11434',
    'box:8000': 'http://box:8000',
    '0.0.0.0': 'http://127.0.0.1:11434',
    '0.0.0.0:80': 'http://127.0.0.1',
    ':9000': 'http://127.0.0.1:9000',
    '::1': 'http://[::1]:11434',
    '[::]:9000': 'http://[::1]:9000',
    'http://box': 'http://box',
    'http://box:11434/': 'http://box:11434',
    'https://box/ollama/': 'https://box/ollama',
  })) {
    test(`OLLAMA_HOST of ${given} is ${url}`, () => assert.equal(toOllamaUrl(given), url))
  }
})

describe('providers of the configuration', () => {
  test('are there by their names, with a key of their own or from a variable', () => {
    const given = {
      'my-vllm': { protocol: 'chat', baseUrl: 'http://vllm:8000/v1' },
      groq: { protocol: 'chat', baseUrl: 'https://api.groq.com/openai/v1', apiKeyEnv: 'GROQ_API_KEY', headers: { 'x-a': 'b' } },
    }
    assert.deepEqual(configured(given, { GROQ_API_KEY: 'gsk' }), [
      { name: 'my-vllm', protocol: 'chat', baseUrl: 'http://vllm:8000/v1', apiKey: undefined, headers: {} },
      { name: 'groq', protocol: 'chat', baseUrl: 'https://api.groq.com/openai/v1', apiKey: 'gsk', headers: { 'x-a': 'b' } },
    ])
    assert.equal(providersOf(loadConfig({ REPARTEE_PROVIDERS: JSON.stringify(given), GROQ_API_KEY: 'x' })).length, 2)
  })

  test('every problem is told at once, by place and without a value', () => {
    const wrong = {
      'Big Name': { protocol: 'chat', baseUrl: 'http://x' },
      openai: { protocol: 'chat', baseUrl: 'http://x' },
      a: { protocol: 'soap', baseUrl: 'nowhere', apiKey: 7, headers: { x: 'a\nb' }, colour: 'red' },
      b: { protocol: 'chat', baseUrl: 'http://x', apiKeyEnv: 'NOT_SET_ANYWHERE' },
      c: { protocol: 'chat', baseUrl: 'http://x', apiKey: 'k', apiKeyEnv: 'OTHER' },
      d: 'http://x',
    }
    assert.throws(
      () => configured(wrong, { OTHER: 'o' }),
      (error: Error) => {
        const places = [
          'Big Name',
          'openai',
          'a.protocol',
          'a.baseUrl',
          'a.apiKey',
          'a.headers',
          'a.colour',
          'b.apiKeyEnv',
          'c has both',
          'd must',
        ]
        for (const place of places) assert.match(error.message, new RegExp(`providers\\.${place.replace('.', '\\.')}`))
        assert.doesNotMatch(error.message, /nowhere|soap|red/)
        return error instanceof ConfigError
      },
    )
    for (const none of [[], 'x', 7, null]) assert.throws(() => configured(none), /must be an object of providers/)
    assert.throws(() => loadConfig({ REPARTEE_PROVIDERS: '{' }), /REPARTEE_PROVIDERS must be an object/)
  })
})
