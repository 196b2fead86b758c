import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { shardedKey } from '../../key/notation.ts'
import { hashSlotOf, shardOf } from './hash-slots.ts'
import { subject } from './keys.ts'
import { codePoint } from './testing/code-point.ts'

/** The longest plain id. */
const MAX = 64

/** What the clients of an application may choose to be called, the odd ones most of all. */
const ids = fc.oneof(
  fc.string({ minLength: 0, maxLength: 80 }),
  fc.string({ unit: codePoint, maxLength: 80 }),
  // Short words over few characters: so that ids that nearly agree are common.
  fc.string({
    unit: fc.constantFrom('{', '}', '#', ':', ' ', '\0', 'a', '\ud83d', '\ude00'),
    maxLength: 3,
  }),
  fc.string({ unit: fc.constantFrom('x', 'y'), minLength: MAX - 1, maxLength: MAX + 1 }),
)

describe('the subject of a key', () => {
  test.each(['10.0.0.1', '2001:db8::', 'user:42', 'a|b', '__proto__', 'x'.repeat(MAX), '!', '~'])(
    'is the id itself where that is plain: %j',
    (id) => expect(subject(id)).toBe(id),
  )

  test.each([
    ['no characters', ''],
    ['a space', 'a b'],
    ['an opening brace', '{a'],
    ['a closing brace', 'a}'],
    ['the sign of a digest', '#'],
    ['a control character', 'a\n'],
    ['NUL', '\0'],
    ['DEL', '\x7f'],
    ['an accent', 'é'],
    ['an emoji', '😀'],
    ['a lone surrogate', '\ud83d'],
    ['one character too many', 'x'.repeat(MAX + 1)],
    ['a million characters', 'x'.repeat(1_000_000)],
  ])('is a digest where it holds %s', (_, id) => {
    expect(subject(id)).toMatch(/^#[A-Za-z0-9_-]{43}$/)
  })

  test('stays the same from release to release, or every quota would be forgotten', () => {
    expect(subject('a b')).toBe('#h4fMnf0CFrqHZE2QKepVI-VfEDmrXap6hhhmU2qKI_s')
  })

  test('never holds what would move the slot, and never grows', () => {
    fc.assert(fc.property(ids, (id) => /^([!-z|~]{1,64}\}\{)?[!-z|~]{1,64}$/.test(subject(id))))
  })

  test('differs for every other id', () => {
    fc.assert(fc.property(ids, ids, (a, b) => (subject(a) === subject(b)) === (a === b)))
  })

  test('of an id is nobody’s own id', () => {
    fc.assert(fc.property(ids, (id) => subject(id) === id || subject(subject(id)) !== subject(id)))
  })

  test('tells lone surrogates apart, which UTF-8 would make one', () => {
    const odd = ['\ud800', '\udbff', '\udc00', '\ufffd', '\ud83d\ude00', '\ude00\ud83d']
    expect(new Set(odd.map(subject)).size).toBe(odd.length)
  })
})

describe('the subject of a key in a shard', () => {
  test.each([
    ['{acme}user:42', 'acme}{user:42'],
    ['{a{b}c', `${subject('a{b')}}{c`],
    // A shard of a thousand characters makes no name longer than one that becomes a digest.
    [`{${'x'.repeat(1000)}}c`, `${subject('x'.repeat(1000))}}{c`],
    ['{acme}', `acme}{${subject('')}`],
    // The braces name no shard.
    ['{}user:42', `#${subject('{}user:42').slice(1)}`],
    [' {acme}user:42', `#${subject(' {acme}user:42').slice(1)}`],
  ])('of %j is %j', (id, expected) => expect(subject(id)).toBe(expected))

  test('differs for other shards and other ids, whatever text somebody chooses for them', () => {
    const key = (shard: string, id: string) => subject(shardedKey(shard, id))
    const property = fc.property(ids, ids, ids, ids, (shard, id, otherShard, other) => {
      const isSame = shard === otherShard && id === other
      expect(key(shard, id) === key(otherShard, other)).toBe(isSame)
      expect(key(shard, id)).toMatch(/^[!-z|~]{1,64}\}\{[!-z|~]{1,64}$/)
    })
    const digest = /\{(.*)\}/.exec(shardedKey('é', ''))?.[1] as string
    fc.assert(property, {
      examples: [
        ['a', 'b', 'a}b', 'b'],
        ['a}b', 'c', 'a', 'b}c'],
        ['é', 'x', digest, 'x'],
      ],
    })
  })

  test('is in the hash slot of the shard, which no id moves', () => {
    fc.assert(
      fc.property(ids, ids, (shard, id) => {
        const text = shardedKey(shard, id)
        const slots = [text, shardedKey(shard, 'x')].map((each) =>
          hashSlotOf(`p:{${subject(each)}}:q`),
        )
        expect(slots[0]).toBe(slots[1])
        expect(shardOf(text)).toBe((slots[0] as number) >> 10)
      }),
    )
  })
})

describe('Redis Cluster', () => {
  test.each([
    // The check value of CRC-16/XMODEM.
    ['123456789', 0x31c3],
    ['', 0],
    ['foo', 12_182],
    ['bar', 5061],
    ['foo{bar}{zap}', 5061],
    ['{user1000}.following', 3443],
    ['{user1000}.followers', 3443],
    // Empty braces tag nothing, and a tag ends at the first brace that closes.
    ['foo{}{bar}', 8363],
    ['foo{{bar}}zap', 4015],
  ])('the hash slot of %j is %i', (key, slot) => {
    expect(hashSlotOf(key)).toBe(slot)
  })

  test.each(['{', '}', '}{', 'a{b', 'a}b{c', 'a{}'])('%j has no tag', (key) => {
    expect(hashSlotOf(`{${key.replaceAll(/[{}]/g, '')}}`)).not.toBe(hashSlotOf(key))
  })
})
