import { describe, expect, test } from '@jest/globals'
import type { Charge } from '@sluice/core'
import { denialOf, problemBody } from '../refusal/refusal.ts'
import { readAccess } from './access-list.ts'

const accessOf = (allow: unknown, deny: unknown = []) => readAccess(allow, deny, 56)
const charge = (key: string) => ({ key }) as Charge

describe('addresses and ranges', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.7', '::ffff:203.0.113.7', true],
    ['203.0.113.7', '::ffff:cb00:7107', true],
    ['203.0.113.7', '203.0.113.7:4711', true],
    ['203.0.113.7', '64:ff9b::203.0.113.7', true],
    ['::ffff:203.0.113.7', '203.0.113.7', true],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['::ffff:10.0.0.0/104', '10.1.2.3', true],
    ['2001:db8::/32', '2001:DB8:ffff::1', true],
    ['2001:db8::/32', '[2001:db8::1]:443', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['2001:db8::1', '2001:db8:0:0:0:0:0:1', true],
    ['::/1', '10.0.0.1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
  ])('%s holds %s: %p', (entry, address, holds) => {
    expect(accessOf([entry]).ofAddress(address)?.source).toBe(holds ? 'allow' : undefined)
    expect(accessOf([], [entry]).ofAddress(address)?.source).toBe(holds ? 'deny' : undefined)
  })

  test.each(['unknown', '', 'a'.repeat(6000), '10.0.0.1 evil'])('%.9s is on no list', (address) => {
    expect(accessOf(['::/1', '8000::/1', '0.0.0.0/1', '128.0.0.0/1']).ofAddress(address)).toBe(
      undefined,
    )
  })

  test('a client without an address is on no list of addresses', () => {
    const access = readAccess(['10.0.0.0/8'], ['10.0.0.0/8'], 56)
    expect(access.ofAddress(undefined)).toBeUndefined()
  })
})

test('deny goes before allow, for addresses and for keys', () => {
  const access = accessOf(['10.0.0.0/8', 'user:1', 'user:2'], ['10.0.0.1', 'user:2', 'user:3'])
  expect(access.ofAddress('10.0.0.1')?.source).toBe('deny')
  expect(access.ofAddress('10.0.0.2')?.source).toBe('allow')
  expect(access.ofKeys([charge('user:1')])?.source).toBe('allow')
  expect(access.ofKeys([charge('user:2')])?.source).toBe('deny')
  expect(access.ofKeys([charge('user:1'), charge('user:3')])?.source).toBe('deny')
  expect(access.ofKeys([charge('user:4'), charge('user:1')])?.source).toBe('allow')
  expect(access.ofKeys([charge('user:4')])).toBeUndefined()
})

test('a listed client has the key that the list names: its address, or the key', () => {
  const access = accessOf(['2001:db8::/32', 'user:1'], ['10.0.0.0/8'])
  expect(access.ofAddress('::ffff:10.0.0.1')).toEqual({ source: 'deny', key: '10.0.0.1' })
  expect(access.ofAddress('2001:DB8::1')).toEqual({ source: 'allow', key: '2001:db8::/56' })
  const longer = readAccess(['2001:db8::/32'], [], 64)
  expect(longer.ofAddress('2001:db8::1')?.key).toBe('2001:db8::/64')
  const charges = [charge('10.0.0.1'), charge('user:1')]
  expect(access.ofKeys(charges)).toEqual({ source: 'allow', key: 'user:1' })
})

describe('an entry that is no address is a key', () => {
  test.each(['user:42', 'unknown', 'key:user:42', 'key:192.0.2.1'])('%s, as it is', (key) => {
    expect(accessOf([key]).ofKeys([charge(key)])?.source).toBe('allow')
    expect(accessOf([key]).ofKeys([charge(`${key}x`), charge(`key:${key}`)])).toBeUndefined()
  })

  test.each(['tenant-7', 'a:b', '12:34', 'cafe/1', 'v1.2.3/4', 'tenant::42'])(
    '%s, of a key function',
    (text) => {
      expect(accessOf([text]).ofKeys([charge(`key:${text}`)])?.source).toBe('allow')
      expect(accessOf([text]).ofKeys([charge(text), charge(`user:${text}`)])).toBeUndefined()
    },
  )
})

describe('a broken address or range is refused, not taken for a key', () => {
  test.each([
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/',
    '10/8',
    '10.0.0.*',
    '10.0.0.0-10.0.0.9',
    '10.0.0.1:80',
    '300.0.0.1',
    '0177.0.0.1',
    '::/0',
    '2001:db8::/129',
    '2001:db8:::1',
    '2001:db8:1:2:3:4:5:6:7/64',
    '::ffff:10.0.0.0/8',
    'fe80::1%eth0',
    '[2001:db8::1]:443',
    ' 10.0.0.0/8',
    '10.0.0.1\n',
    '2001:db8::/32 ',
  ])('%j', (entry) => {
    const broken = (option: string) => expect.objectContaining({ code: 'SLUICE_CIDR', option })
    expect(() => accessOf(['user:1', entry])).toThrow(broken('allow'))
    expect(() => accessOf([], [entry])).toThrow(broken('deny'))
  })

  test.each([['10.0.0.1'], [[7]], [['']], [[undefined]], [null], [{}]])('%p is no list', (list) => {
    expect(() => accessOf(list)).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE', option: 'allow' }),
    )
  })
})

test('a denied client gets 403 with problem+json and no Retry-After', () => {
  const denial = denialOf('192.0.2.1')
  expect(denial).toMatchObject({ status: 403, retryAfterMs: undefined })
  const body = JSON.parse(problemBody(denial, denial.state))
  expect(body).toEqual({ type: 'about:blank', title: 'Forbidden', status: 403 })
})
