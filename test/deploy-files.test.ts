// The files in deploy/ keep what docs/production.md promises
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { BlockList } from 'node:net'
import { test } from 'node:test'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** The lines of a YAML block under a key, at any depth. */
function blockOf(yaml: string, key: string): string {
  const lines = yaml.split('\n')
  const start = lines.findIndex((line) => line.trim() === `${key}:`)
  assert.notEqual(start, -1, `${key} is missing`)
  const indent = lines[start]!.search(/\S/)
  const end = lines.findIndex((line, i) => i > start && line.trim() !== '' && line.search(/\S/) <= indent)
  return lines.slice(start + 1, end === -1 ? undefined : end).join('\n')
}
const fieldOf = (yaml: string, key: string) => new RegExp(`^[ -]*${key}: *(\\S+)$`, 'm').exec(yaml)?.[1]
const networkOf = (cidr: string) => {
  const list = new BlockList()
  const [address, bits] = cidr.split('/')
  list.addSubnet(address!, Number(bits))
  return list
}

test('compose.yaml trusts the address of its own nginx, and no other address of its network', () => {
  const compose = read('deploy/compose.yaml')
  const services = blockOf(compose, 'services')
  const trusted = fieldOf(blockOf(services, 'repartee'), 'REPARTEE_TRUST_PROXY')
  const proxy = fieldOf(blockOf(services, 'proxy'), 'ipv4_address')
  assert.ok(trusted, 'without it all callers have the address of nginx')
  assert.equal(trusted, proxy)
  const network = compose.slice(compose.indexOf('\nnetworks:'))
  assert.ok(networkOf(fieldOf(network, 'subnet')!).check(proxy!), 'nginx is in the network')
  assert.ok(!networkOf(fieldOf(network, 'ip_range')!).check(proxy!), 'no other container gets its address')
  assert.match(read('deploy/nginx.conf'), /proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;/)
})
