import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { memoryStore } from '@sluice/core'
import { RoutedLimiter } from '../path/routed-limiter.ts'
import { type PlainOptions, plain } from '../testing/plain-server.ts'

let warned: string[]
beforeEach(() => {
  warned = []
  jest.spyOn(process, 'emitWarning').mockImplementation(((text: string) => {
    warned.push(text)
  }) as never)
})
afterEach(() => {
  jest.restoreAllMocks()
  for (const each of open.splice(0)) each.close()
})

const open: { close(): void }[] = []

function middleware(options: object) {
  const store = memoryStore()
  open.push(store)
  const given = { store, limit: 9, window: '1h', ...options } as PlainOptions
  const routed = new RoutedLimiter(given, plain)
  const isRefused = (url: string, remoteAddress: string) => {
    const request = { method: 'GET', url, headers: {}, socket: { remoteAddress } } as never
    const verdict = routed.of(request)[0]?.decide(request)
    return (verdict as { refusal?: object }).refusal !== undefined
  }
  return { limiter: routed.limiter, isRefused }
}

// This one comes first: the process warns once.
test('a key without a shard is that of clients of every limiter without shard', () => {
  const { limiter } = middleware({ routes: { '/acme': { shard: () => 'acme' } } })
  limiter.block('192.0.2.1', '1h')
  expect(warned).toEqual([])
})

test('the clients without an address are clients of every middleware', () => {
  const { limiter } = middleware({})
  limiter.block('unknown', '1h')
  expect(warned).toEqual([])
  limiter.block('user:ada', '1h')
  expect(warned).toEqual([expect.stringContaining('SLUICE_KEY_KIND')])
})

test('an address that a key function has returned is blocked in its shard', () => {
  const { limiter, isRefused } = middleware({ key: () => '192.0.2.1', shard: () => 'acme' })
  limiter.block('192.0.2.1', '1h')
  expect(isRefused('/', '192.0.2.9')).toBe(false)
  limiter.block('{acme}192.0.2.1', '1h')
  expect(isRefused('/', '192.0.2.9')).toBe(true)
})

test('an IPv6 network as long as the keys of a route is a client of that, and of the others', () => {
  const { limiter, isRefused } = middleware({ routes: { '/long': { limit: 5, ipv6Prefix: 64 } } })
  limiter.block('2001:db8::/64', '1h')
  expect(['/', '/long'].map((url) => isRefused(url, '2001:db8::1'))).toEqual([true, true])
  // Of the same /56, and another /64.
  expect(['/', '/long'].map((url) => isRefused(url, '2001:db8:0:1::1'))).toEqual([true, false])
})

test('a network that is larger than any key is the key of no client', () => {
  const { limiter } = middleware({})
  expect(() => limiter.consume('2001:db8::/20')).toThrow('SLUICE_KEY')
  expect(limiter.consume('2001:db8::/64')).toMatchObject({ allowed: true })
})
