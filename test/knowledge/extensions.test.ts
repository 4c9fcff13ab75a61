import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Returns the extensions in the list of a file, without the dot. */
function extensionsIn(path: string): string[] {
  const source = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  const list = /const KINDS = new Set\(\s*'([^']+)'/.exec(source)?.[1]
  assert.ok(list, path)
  return list.split(' ').map((extension) => extension.replace('.', ''))
}

test('the command line and the console take the same files from a folder, and all whose extension names a format', () => {
  const taken = extensionsIn('src/cli/knowledge/files.ts')
  assert.deepEqual(extensionsIn('console/src/pages/knowledge/files.ts'), taken)
  const kinds = readFileSync(new URL('../../src/knowledge/read/kind.ts', import.meta.url), 'utf8')
  const named = /const BY_EXTENSION[^{]+\{([^}]+)\}/.exec(kinds)![1]!.matchAll(/(\w+):/g)
  for (const [, extension] of named) assert.ok(taken.includes(extension!), extension)
})
