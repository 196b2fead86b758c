import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import * as node from './node.ts'
import type { Platform } from './platform.ts'
import * as web from './web.ts'

/** Texts with lone surrogates, of all lengths around a block and its padding. */
const text = fc.string({
  unit: fc.integer({ max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  maxLength: 200,
})

describe('the web does what Node does', () => {
  it.each(['sha1', 'sha256'] as const)('%s', (algorithm) => {
    for (const encoding of ['utf8', 'utf16le'] as const)
      fc.assert(
        fc.property(text, (given) => {
          const [own, nodes] = [web, node].map(({ hash }) =>
            hash(algorithm, given, encoding, 'hex'),
          )
          expect(own).toBe(nodes)
        }),
      )
    // The padding differs by the length: each up to that of two blocks.
    for (let length = 0; length < 130; length += 1) {
      const [own, nodes] = [web, node].map(({ hash }) =>
        hash(algorithm, 'a'.repeat(length), 'utf8', 'hex'),
      )
      expect(own).toBe(nodes)
    }
  })

  it('SHA-256 of a text of several blocks', () => {
    const long = 'a'.repeat(1_000_000)
    expect(web.hash('sha256', long, 'utf8', 'hex')).toBe(
      'cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0',
    )
  })

  it('HMAC, with secrets up to more than a block', () => {
    fc.assert(
      fc.property(text, text, (secret, given) => {
        expect(Buffer.from(web.hmac(secret, given))).toEqual(node.hmac(secret, given))
      }),
    )
    for (let length = 60; length < 70; length += 1) {
      const secret = 'a'.repeat(length)
      expect(Buffer.from(web.hmac(secret, 'text'))).toEqual(node.hmac(secret, 'text'))
    }
  })

  it.each(['hex', 'base64', 'base64url'] as const)('%s', (form) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(web.encode(bytes, form)).toBe(node.encode(bytes, form))
      }),
    )
    const part = new Uint8Array([1, 2, 250, 251, 252]).subarray(2)
    expect(web.encode(part, form)).toBe(node.encode(part, form))
  })

  it('the bytes of a text', () => {
    fc.assert(fc.property(text, (given) => web.byteLength(given) === node.byteLength(given)))
  })

  it.each<unknown>([
    ...['5', '', "it's", `it's "it"`, 'line\nline', '\\', 'x'.repeat(300)],
    ...[0, -0, 5.5, Number.NaN, 5n, true, undefined, null, Symbol('key')],
    ...[[], [1, 'a', null], [[1], {}], {}, { a: 1, b: 'x' }, { a: { b: 1 }, c: [1], d() {} }],
    ...[Object.create(null), new Date(0), new (class Named {})(), { a: new Date(0) }],
    ...[function named() {}, () => {}],
  ])('shows %p', (value) => {
    expect(web.inspect(value, 100)).toBe(node.inspect(value, 100))
  })

  it('knows every method that a server of Node reads', () => {
    expect(web.methods()).toEqual(expect.arrayContaining([...node.methods()]))
    expect(web.methods()).not.toContain('GTE')
  })
})

describe.each<[string, Platform]>([
  ['Node', node],
  ['the web', web],
])('%s', (_, platform) => {
  it('gives 32 random bits', () => {
    const drawn = Array.from({ length: 100 }, platform.random32)
    for (const each of drawn) expect(each >>> 0).toBe(each)
    expect(new Set(drawn).size).toBeGreaterThan(98)
    expect(Math.max(...drawn)).toBeGreaterThan(2 ** 31)
  })

  it('calls back after the turn', async () => {
    const order: string[] = []
    const called = new Promise<void>((resolve) => platform.afterTurn(resolve))
    void called.then(() => order.push('after'))
    await Promise.resolve()
    order.push('turn')
    await called
    expect(order).toEqual(['turn', 'after'])
  })

  it('calls back in the background, cancels, and keeps no process alive', async () => {
    const called = jest.fn()
    const cancelled = jest.fn()
    const before = process.getActiveResourcesInfo()
    platform.inBackground(cancelled, 1)()
    platform.inBackground(called, 1)
    expect(process.getActiveResourcesInfo()).toEqual(before)
    while (called.mock.calls.length === 0) await sleep(1)
    expect(cancelled).not.toHaveBeenCalled()
  })

  it('has channels that nobody listens to, and traces pass on what they get', async () => {
    expect(platform.channel('sluice:none').hasSubscribers).toBe(false)
    const traces = platform.tracingChannel<{ result?: number }>('sluice:none')
    expect(traces.hasSubscribers).toBe(false)
    expect(traces.traceSync(() => 1, {})).toBe(1)
    expect(await traces.tracePromise(async () => 2, {})).toBe(2)
  })
})

it('on the web a warning goes to the console', () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  web.emitWarning('something is wrong', 'SLUICE_SETTLE')
  expect(warn.mock.calls).toEqual([['[SLUICE_SETTLE] SluiceWarning: something is wrong']])
  warn.mockRestore()
})

it('both have all of the contract, and nothing else', () => {
  expect(Object.keys(web).sort()).toEqual(Object.keys(node).sort())
})
