import { describe, expect, it, test } from '@jest/globals'
import { ALGORITHM_NAMES, algorithms } from '../algorithms/index.ts'
import { ALGORITHM_OPTIONS, algorithmsWith } from './algorithm-options.ts'
import type { Option } from './option.ts'
import { PLACES } from './places.ts'
import { readOptions } from './read.ts'
import { OPTIONS } from './table.ts'

const rows = Object.entries(OPTIONS).flatMap(([section, options]) =>
  Object.entries(options).map(
    ([name, option]) => [`${section}.${name}`, option as Option] as const,
  ),
)

describe('a row of the table', () => {
  test.each(rows)('%s is described in sentences', (_, { description, type }) => {
    expect(description).toMatch(/^[A-Z].*\.$/)
    expect(type.form).not.toBe('')
  })

  test.each(rows.filter(([, option]) => option.default !== undefined))(
    '%s has a default that passes its own check',
    (name, option) => {
      expect(option.type.check(name, option.default)).toBeDefined()
    },
  )
})

it('no name of another limiter means two options, or is an option of the same place', () => {
  const peers = rows.flatMap(([, { peers = {} }]) => Object.keys(peers))
  expect(peers.filter((peer, i) => peers.indexOf(peer) !== i)).toEqual([])
  expect(peers.filter((peer) => PLACES.http.includes(peer as never))).toEqual([])
})

describe('options of only some algorithms', () => {
  test.each(ALGORITHM_NAMES)('the options of %s have a row each', (name) => {
    for (const option of Object.keys(algorithms[name].options)) {
      expect(Object.keys(OPTIONS.policy)).toContain(option)
      expect(ALGORITHM_OPTIONS).toContain(option)
      expect(algorithmsWith(option)).toContain(name)
    }
  })

  it('all algorithms have limit and window', () => {
    expect(algorithmsWith('limit')).toEqual([])
    expect(algorithmsWith('window')).toEqual([])
  })
})

describe('places', () => {
  it('a policy has a name only in a list of policies; elsewhere it is that of the limiter', () => {
    expect(PLACES.policy).toContain('name')
    expect(PLACES.onlyPolicy).not.toContain('name')
    for (const place of [PLACES.limiter, PLACES.http, PLACES.route]) {
      expect(place.filter((option) => option === 'name')).toHaveLength(1)
    }
  })

  it('options that read a request are only for adapters', () => {
    expect(PLACES.httpPolicy).toEqual([...PLACES.policy, 'key', 'cost', 'settle'])
    for (const option of ['key', 'cost', 'settle', 'skip']) {
      expect(PLACES.limiter).not.toContain(option)
      expect(PLACES.http).toContain(option)
    }
  })

  it('a route has the store of its limiter', () => {
    const others = PLACES.http.filter((option) => !PLACES.route.includes(option))
    expect(others).toEqual(['store', 'prefix'])
  })
})

describe('readOptions()', () => {
  const policy = (given: object) => readOptions(OPTIONS.policy, 'policies[0]', given)

  it('returns the set options in the units of the code, and the defaults of the rest', () => {
    expect(policy({ limit: 5, window: '1m' })).toEqual({
      name: 'default',
      limit: 5,
      window: 60_000,
      unit: 'requests',
      algorithm: 'sliding-window',
      burst: undefined,
      maxDelay: undefined,
    })
  })

  it('requires options without a default', () => {
    expect(() => policy({ limit: 5 })).toThrow(
      expect.objectContaining({ option: 'policies[0].window' }),
    )
  })

  it('treats null as a value, not as an option that is not set', () => {
    expect(() => policy({ limit: 5, window: '1m', name: null })).toThrow('received null')
    expect(() => readOptions(OPTIONS.http, '', { ipv6Prefix: null })).toThrow('received null')
  })

  it('accepts a function of the request if the row says so', () => {
    const limit = () => 5
    expect(policy({ limit, window: '1m' }).limit).toBe(limit)
    expect(() => policy({ limit: 5, window: '1m', burst: () => 10 })).toThrow(
      expect.objectContaining({ code: 'SLUICE_OPTION_TYPE' }),
    )
  })

  it('takes an inherited value instead of a default', () => {
    const common = readOptions(OPTIONS.requestPolicy, '', { key: 'user', cost: 3 })
    expect(readOptions(OPTIONS.requestPolicy, 'policies[0]', { cost: 5 }, common)).toEqual({
      key: 'user',
      cost: 5,
      settle: undefined,
    })
  })
})
