// What comes from others: pinned, checked by its hash, from the registry alone, and without programs of its own at installation.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

interface Locked {
  version?: string
  resolved?: string
  integrity?: string
  dev?: boolean
  link?: boolean
  optional?: boolean
  hasInstallScript?: boolean
}
const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const manifest = read('package.json') as Record<'dependencies' | 'devDependencies' | 'allowScripts', Record<string, string>>
const workspaces = ['client', 'console', 'widget'].map((name) => read(`${name}/package.json`)) as Partial<typeof manifest>[]
const packages = Object.entries((read('package-lock.json') as { packages: Record<string, Locked> }).packages)
/** Where the lock file names no other place. */
const REGISTRY = 'https://registry.npmjs.org/'
/** Neither the project itself nor a folder of it. */
const foreign = packages.filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)

describe('what comes from others', () => {
  test('is pinned to one version', () => {
    const all = [manifest, ...workspaces].flatMap((m) => Object.entries({ ...m.dependencies, ...m.devDependencies }))
    const loose = all.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$|^file:scripts\//.test(version))
    assert.deepEqual(loose, [])
  })

  test('comes from the registry, and is compared with its hash', () => {
    const isOdd = ({ resolved = REGISTRY, integrity }: Locked) =>
      !resolved.startsWith(REGISTRY) || !integrity?.startsWith('sha512-')
    const odd = foreign.filter(([, locked]) => isOdd(locked)).map(([path]) => path)
    assert.deepEqual(odd, [])
    assert.ok(foreign.length > 50)
  })

  test('runs nothing when it is installed, but for the package that brings Node', () => {
    const scripted = foreign.filter(([, { hasInstallScript, optional }]) => hasInstallScript === true && optional !== true)
    assert.deepEqual(
      scripted.map(([path, { dev }]) => [path, dev]),
      Object.keys(manifest.allowScripts).map((name) => [`node_modules/${name}`, true]),
    )
  })
})
