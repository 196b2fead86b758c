import { describe, expect, test } from '@jest/globals'
import { otherReadings } from './path-readings.ts'

function readings(path: string): Record<'equivalent' | 'possible', string[]> {
  const found = otherReadings(path) ?? []
  const of = (isEquivalent: boolean) =>
    found.filter((each) => each.isEquivalent === isEquivalent).map((each) => each.path)
  return { equivalent: of(true), possible: of(false) }
}

describe('one reading, the path as it is written', () => {
  test.each(['/', '/api/login', '/API/Login/', '/a.b/c..', '/a+b&c=d', '/@scope/name', '/mü'])(
    '%s',
    (path) => expect(otherReadings(path)).toBeUndefined(),
  )
})

describe('every reader may take it for /api/login', () => {
  test.each([
    '/api//login',
    '//api///login//',
    '/api/./login',
    '/x/../api/login',
    '/../api/login',
    '/x/%2E%2e/api/login',
    '/x/.%2e/api/login',
    '/api\\login',
    '/api/login#fragment',
    '/api/%6Cogin',
    '/%61%70%69/%6c%6f%67%69%6e',
    'http://example.com/api/login',
    'HTTP://example.com//api/./login',
    // The URL Standard reads a host.
    '//example.com/api/login',
    '/\\example.com/api/login',
    '///example.com/api/login',
  ])('%s', (path) => expect(readings(path).equivalent).toContain('/api/login'))
})

describe('a reader that decodes too much may take it for /api/login', () => {
  test.each([
    '/api%2Flogin',
    '/api%2flogin',
    '/api%5Clogin',
    '%2Fapi%2Flogin',
    '/api/%256Cogin',
    '/api%252Flogin',
    '/api/login;a=b',
    '/api/login%3Ba',
    '/api/login%3Fa=/x',
    '/api/login%23a',
    '/api/login%253Fa',
    '/api/%6Cogin;%zz',
    '/api/lo%09gin',
    '%2F%2Fexample.com/api/login',
    '//example.com/api%2Flogin',
    'http://example.com/api%2Flogin',
  ])('%s', (path) => expect(readings(path).possible).toContain('/api/login'))

  test.each(['/x%2F..%2Fapi/login', '/x/..%2fapi%2flogin', '/x/%252e%252e/api/login'])(
    '%s, whose dots it then resolves: what has no entry there is what has none elsewhere',
    (path) => expect(readings(path).equivalent).toContain('/api/login'),
  )
})

test.each([
  ['/m%C3%BCller', '/müller'],
  ['/a%20b', '/a b'],
  ['/a+b%26c', '/a+b&c'],
  ['/100%25', '/100%'],
  ['/%zz/%6cogin', '/%zz/login'],
  ['/%6cogin/%', '/login/%'],
  ['/%6cogin/%ff', '/login/\ufffd'],
])('%s, decoded, is %s', (path, decoded) => {
  const { equivalent, possible } = readings(path)
  expect([...equivalent, ...possible]).toContain(decoded)
})

test.each([
  ['/api/login', 'http://[/..'],
  ['/', '/..%2f..'],
  ['/', 'http://example.com'],
  ['/*', '*'],
  ['/', ''],
])('%s is among the readings of %p, which nothing throws for', (expected, path) => {
  const { equivalent, possible } = readings(path)
  if (expected === '/api/login') expect([...equivalent, ...possible]).not.toContain(expected)
  else expect([...equivalent, ...possible]).toContain(expected)
})

test('an encoded slash within a parameter makes no equivalent path', () => {
  expect(readings('/packages/@scope%2Fname').equivalent).toEqual(['/packages/@scope%2Fname'])
})

test.each(['/%ff', '/..', '/%252e', ';', '%', '//x', '\\', '/%2f..'])(
  'a path of 16 kB is read in linear time: %s',
  (part) => {
    // CPU time, which other processes of the machine do not lengthen.
    const before = process.cpuUsage()
    for (let i = 0; i < 5; i += 1) otherReadings(`/${part.repeat(16_384 / part.length)}`)
    expect(process.cpuUsage(before).user).toBeLessThan(500_000)
  },
)
