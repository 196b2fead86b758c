import { SluiceError } from '@sluice/core'
import {
  AddressRanges,
  checkKnown,
  checkOneOf,
  parseAddress,
  parseCidr,
  warnOnce,
} from '@sluice/core/internal'
import type { ProxyTrust, RequestAdapter } from '../request-adapter.ts'
import { forNode, lastElements } from './forwarded.ts'

/**
 * Which proxies are trusted to report the client's address: addresses, CIDRs and the names `loopback`,
 * `linklocal`, `uniquelocal`; a number of hops; or a function of an address, which is '' for a
 * Unix socket, and its distance.
 */
type TrustedProxies =
  | string
  | readonly string[]
  | number
  | ((address: string, hop: number) => boolean)

/**
 * The header field in which proxies write the client's address: a list that each proxy appends to,
 * or the one address that the outermost proxy sets. A client can write it too, so it counts only
 * from a trusted proxy, which must overwrite it.
 */
type AddressField = keyof typeof FIELDS

/** The trusted proxies, and the header field that they write. Default: `X-Forwarded-For`. */
export type TrustProxyOption =
  | TrustedProxies
  | { readonly proxies: TrustedProxies; readonly header: AddressField | Lowercase<AddressField> }

const FORWARDED_FOR = 'x-forwarded-for'

/** The most proxies that are followed, more than any chain has: earlier entries of the field are not read. */
const MAX_HOPS = 32

/**
 * Reads the client's address as `trustProxy` says.
 *
 * @throws SluiceError if it does not name proxies
 */
export function forwardedAddressReader<Request>(
  trustProxy: TrustProxyOption,
  adapter: RequestAdapter<Request, never>,
): (request: Request) => string | undefined {
  const { proxies, header } = namedField(trustProxy)
  const trust = compileTrust(proxies)
  const { entries, addressOf } = FIELDS[header]
  const name = header.toLowerCase()
  return (request) => {
    const peer = adapter.peer(request)
    const field = adapter.header(request, name)
    return field === undefined ? peer : clientAddress(peer, entries(field), addressOf, trust)
  }
}

/** Warns if the framework's own proxy setting is unsafe, and the request is one that it affects. */
export function warnOfProxySetting<Request>(
  request: Request,
  adapter: RequestAdapter<Request, never>,
): void {
  if (adapter.header(request, FORWARDED_FOR) === undefined) return
  const trust = adapter.proxyTrust(request)
  if (trust === 'named') return
  const [code, text] = UNSAFE[trust]
  warnOnce(code, `${text}trustProxy: ['loopback', '10.0.0.0/8'].`)
}

/** How a field is read: its entries from the right, and the address that an entry has. */
interface FieldReader {
  entries(field: string): readonly string[]
  addressOf(entry: string): string
}

const addressOf = (entry: string) => entry
const list: FieldReader = { entries: lastEntries, addressOf }
/** A field with one address: the proxy wrote the last, if a client sent it too. */
const single: FieldReader = { entries: (field) => lastEntries(field).slice(0, 1), addressOf }

const FIELDS = {
  'X-Forwarded-For': list,
  // RFC 7239.
  Forwarded: { entries: (field) => lastElements(field, MAX_HOPS), addressOf: forNode },
  'CF-Connecting-IP': single,
  'True-Client-IP': single,
  'X-Real-IP': single,
  'Fly-Client-IP': single,
} satisfies Readonly<Record<string, FieldReader>>

function namedField(option: TrustProxyOption): {
  proxies: TrustedProxies
  header: AddressField
} {
  if (typeof option !== 'object' || option === null || !('proxies' in option)) {
    return { proxies: option as TrustedProxies, header: 'X-Forwarded-For' }
  }
  checkKnown('trustProxy', option, ['proxies', 'header'])
  const names = Object.keys(FIELDS) as AddressField[]
  const { proxies, header } = option
  const named = names.find((name) => name.toLowerCase() === `${header}`.toLowerCase())
  return { proxies, header: named ?? checkOneOf('trustProxy.header', header, names) }
}

/** The nearest address, from the right, that is not a trusted proxy. */
function clientAddress(
  peer: string | undefined,
  entries: readonly string[],
  addressOf: (entry: string) => string,
  trust: ReturnType<typeof compileTrust>,
): string | undefined {
  let address = peer
  let hop = 0
  for (const entry of entries) {
    if (!trust(address, hop)) return address
    address = addressOf(entry)
    hop += 1
  }
  return address
}

/** The entries of the field from the right, up to `MAX_HOPS` of them, without empty ones. */
function lastEntries(forwarded: string): string[] {
  const entries: string[] = []
  let end = forwarded.length
  for (let i = 0; i < MAX_HOPS && end >= 0; i += 1) {
    const comma = end === 0 ? -1 : forwarded.lastIndexOf(',', end - 1)
    const entry = forwarded.slice(comma + 1, end).trim()
    if (entry !== '') entries.push(entry)
    end = comma
  }
  return entries
}

function compileTrust(option: unknown): (address: string | undefined, hop: number) => boolean {
  if (typeof option === 'function') return (address, hop) => option(address ?? '', hop) === true
  if (typeof option === 'number' && Number.isInteger(option) && option >= 0 && option <= MAX_HOPS) {
    return (_, hop) => hop < option
  }
  const entries = typeof option === 'string' ? option.split(',').map((each) => each.trim()) : option
  const ranges = Array.isArray(entries) ? rangesOf(entries) : undefined
  if (ranges !== undefined) return (address) => address !== undefined && holds(ranges, address)
  throw new SluiceError({
    code: 'SLUICE_TRUST_PROXY',
    option: 'trustProxy',
    expected: `addresses, CIDRs, loopback, linklocal, uniquelocal, hops from 0 to ${MAX_HOPS}, a function, or { proxies, header }`,
    received: option,
    fix: "Name your proxies: trustProxy: ['loopback', '10.0.0.0/8']. If every address were trusted, each client could choose its own.",
  })
}

/** The names of ranges, with what Express means by them. */
const NAMED_RANGES = new Map([
  ['loopback', ['127.0.0.0/8', '::1']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/** Undefined if one of the entries is no address, no CIDR and no name. */
function rangesOf(entries: readonly unknown[]): AddressRanges | undefined {
  const ranges = new AddressRanges()
  for (const entry of entries)
    for (const text of NAMED_RANGES.get(entry as string) ?? [entry]) {
      const range = typeof text === 'string' ? parseCidr(text) : undefined
      if (range === undefined) return undefined
      ranges.add(range)
    }
  return ranges
}

function holds(ranges: AddressRanges, text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && ranges.endOf(address) === Infinity
}

/** The unsafe settings of frameworks, and the codes of their warnings. */
const UNSAFE = {
  nobody: [
    'SLUICE_PROXY_UNTRUSTED',
    'Requests come with X-Forwarded-For, but no proxy is trusted: all clients behind a proxy ' +
      'share its address and so its limit. Name your proxies: ',
  ],
  everybody: [
    'SLUICE_PROXY_EVERYBODY',
    'The framework trusts the first address in X-Forwarded-For, which the client writes ' +
      'itself, so a client can get a new limit for each request. Name your proxies instead: ',
  ],
  hops: [
    'SLUICE_PROXY_HOPS',
    'The framework counts hops in X-Forwarded-For: a client that reaches the server directly can ' +
      'choose its own address there. Name your proxies instead: ',
  ],
  ignored: [
    'SLUICE_PROXY_IGNORED',
    "The framework's own proxy setting has no effect (Fastify ignores a number since 5.12.1, and with " +
      'serverless-http Express ignores all): all clients behind a proxy share its address and so its limit. ' +
      'Name your proxies in the option of the limiter: ',
  ],
} as const satisfies Record<Exclude<ProxyTrust, 'named'>, readonly [code: string, text: string]>
