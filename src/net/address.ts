import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of IPv6 that is given out; what lies outside has been withdrawn, like `::7f00:1`, or stands for something else. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** The inner address of Azure's virtual machines, where their secrets are; it looks like a public one. */
const NOT_PUBLIC = new Set(['168.63.129.16'])

/** Bytes 8 to 11 of an IPv6 address whose last four are an IPv4 address (ISATAP, RFC 5214), apart from the bit that says whether that one is public. */
const ISATAP = [0x00, 0x00, 0x5e, 0xfe]
const PUBLIC_BIT = 0x02

/**
 * Whether an address is one of the public internet: not this machine, a private network, a link, a cloud's metadata, or another
 * notation of one of those (IPv4 mapped into IPv6, NAT64, 6to4, Teredo, ISATAP).
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

/** The address that the host of a URL is; undefined where it is a name. */
export function addressIn({ hostname }: URL): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? undefined : bare
}

/**
 * The address of a caller: as a trusted proxy tells it, without a port; else that of the connection, undefined once that is closed. Some proxies pass on
 * the header that they receive, which may be any text.
 */
export function callerAddress(told: string | undefined, connected: string | undefined): string | undefined {
  const bare = told?.replace(/^\[(.*)\](?::\d{1,5})?$/, '$1').replace(/^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/, '$1')
  return bare !== undefined && isIP(bare) !== 0 ? bare : connected
}

const OWN_BITS = 64

/** Whom an address belongs to, as far as it tells: whoever has one of IPv6 has the whole network of 64 bits. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${OWN_BITS}`).toString()
}
