import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The allocated part of IPv6. Other addresses are withdrawn, like `::7f00:1`, or represent something else. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** The internal address of Azure's virtual machines, which gives access to their secrets. It looks public. */
const NOT_PUBLIC = new Set(['168.63.129.16'])

/** Bytes 8 to 11 of an IPv6 address that ends in an IPv4 address (ISATAP, RFC 5214), without the bit that marks the latter as public. */
const ISATAP = [0x00, 0x00, 0x5e, 0xfe]
const PUBLIC_BIT = 0x02

/**
 * Returns true for a public internet address: not this machine, a private network, a link or a cloud's metadata,
 * nor another notation of one of them (IPv4 mapped into IPv6, NAT64, 6to4, Teredo, ISATAP).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || NOT_PUBLIC.has(parsed.toString())) return false
  return parsed instanceof ipaddr.IPv4 || (parsed.match(GLOBAL_IPV6) && !isIsatap(parsed))
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const [first, ...rest] = address.toByteArray().slice(8, 12)
  return [first! & ~PUBLIC_BIT, ...rest].every((byte, i) => byte === ISATAP[i])
}

/** Returns the IP address in a URL's host; undefined if the host is a name. */
export function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * Returns the address of a caller: from a trusted proxy, without its port, otherwise from the connection (undefined after it is closed).
 * Some proxies pass on the header that they receive, which may be any text.
 */
export function callerAddress(told: string | undefined, connected: string | undefined): string | undefined {
  const bare = told?.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1')
  return bare !== undefined && isIP(bare) !== 0 ? bare : connected
}

const OWN_BITS = 64

/** Returns the network of one owner: the IPv4 address itself, or the whole 64-bit network of an IPv6 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${OWN_BITS}`).toString()
}
