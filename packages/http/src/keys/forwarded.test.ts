import { describe, expect, test } from '@jest/globals'
import { forNode, lastElements } from './forwarded.ts'

describe('lastElements()', () => {
  test.each([
    ['for=a, for=b', ['for=b', 'for=a']],
    ['for=a,,\t for=b ,', ['for=b', 'for=a']],
    ['', []],
    [' , ', []],
    ['for="a,b";by=c, for=d', ['for=d', 'for="a,b";by=c']],
    ['for="a\\",b", for=d', ['for=d', 'for="a\\",b"']],
    ['for="a\\\\", for=d', ['for=d', 'for="a\\\\"']],
  ])('%j', (field, elements) => {
    expect(lastElements(field, 32)).toEqual(elements)
  })

  test.each([
    'for="',
    'for=9.9.9.9;x="',
    'for=9.9.9.9, for="\\',
    '"',
    `${'\\'.repeat(99)}"`,
    'for=9.9.9.9;x=",',
  ])('after %j of a client, what the proxy has added is still its own element', (written) => {
    for (const added of ['for=203.0.113.7', 'for="[2001:db8::1]:80";host="a,b";proto=https']) {
      expect(lastElements(`${written}, ${added}`, 1)).toEqual([added])
    }
  })

  test('of thousands it gives those that are asked for', () => {
    expect(lastElements('for=1.1.1.1,'.repeat(5000), 32)).toHaveLength(32)
  })
})

describe('forNode()', () => {
  test.each([
    ['for=192.0.2.43', '192.0.2.43'],
    ['For="192.0.2.43:47011"', '192.0.2.43'],
    ['for="[2001:db8:cafe::17]:4711";proto=https', '2001:db8:cafe::17'],
    ['by=203.0.113.60 ; proto=http;for=192.0.2.43', '192.0.2.43'],
    ['host="a;for=9.9.9.9,";for=192.0.2.43', '192.0.2.43'],
    ['for="1\\92.0.2.43"', '192.0.2.43'],
    ['for="_gazonk"', '_gazonk'],
    ['for=_mildred:_port', '_mildred'],
    ['for=unknown', 'unknown'],
  ])('%j: %s', (element, node) => {
    expect(forNode(element)).toBe(node)
  })

  test.each([
    'proto=https',
    'for',
    'for=',
    'for=""',
    'for=192.0.2.43;for=192.0.2.44',
    'for="192.0.2.43',
    'for="a"b',
    'for=192.0.2.43 x',
    'for=example.com',
    'for=2001:db8::1',
    `for=${'1'.repeat(5000)}`,
    `for=192.0.2.43;${'a="b";'.repeat(5000)}`,
  ])('%j names no client', (element) => {
    expect(forNode(element)).toBe('unknown')
  })
})
