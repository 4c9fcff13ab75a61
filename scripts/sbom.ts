// Writes the SBOM of the published package to stdout, as CycloneDX 1.6, from the lock file. Equal lock files give equal output.
// `npm sbom --omit dev` cannot be used: it omits a package that tests need in the same version.
import { readFileSync } from 'node:fs'

interface Locked {
  name?: string
  version?: string
  integrity?: string
  license?: string
  dev?: boolean
  link?: boolean
}
const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'))
const { name, version } = read('package.json') as { name: string; version: string }
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
/** The lock file lists the client's peer dependencies as if they were required. The service uses none of them. */
const { peerDependencies: peers } = read('client/package.json') as { peerDependencies: Record<string, string> }
const purlOf = (of: string, at: string) => `pkg:npm/${of.replace('@', '%40')}@${at}`

const components = Object.entries(packages)
  .filter(
    ([path, { dev, link }]) =>
      path.startsWith('node_modules/') && !dev && !link && !(path.slice('node_modules/'.length) in peers),
  )
  .map(([path, locked]) => {
    const of = locked.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
    const purl = purlOf(of, locked.version!)
    const hash = Buffer.from(locked.integrity?.replace('sha512-', '') ?? '', 'base64').toString('hex')
    return {
      type: 'library',
      'bom-ref': purl,
      name: of,
      version: locked.version!,
      purl,
      ...(hash === '' ? {} : { hashes: [{ alg: 'SHA-512', content: hash }] }),
      ...(locked.license === undefined ? {} : { licenses: [{ expression: locked.license }] }),
    }
  })
const component = { type: 'application', 'bom-ref': purlOf(name, version), name, version, purl: purlOf(name, version) }
const once = [...new Map(components.map((one) => [one.purl, one])).values()]
process.stdout.write(
  `${JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component }, components: once }, null, 1)}\n`,
)
