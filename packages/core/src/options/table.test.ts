import { describe, expect, it, test } from '@jest/globals'
import { ALGORITHM_NAMES, algorithms } from '../algorithms/index.ts'
import { ALGORITHM_OPTIONS, algorithmsWith } from './algorithm-options.ts'
import type { Option } from './option.ts'
import { OPTION_NAMES } from './option-names.ts'
import { readOptions } from './read.ts'
import { OPTIONS } from './table.ts'

const rows = Object.entries(OPTIONS).flatMap(([section, options]) =>
  Object.entries(options).map(
    ([name, option]) => [`${section}.${name}`, option as Option] as const,
  ),
)

describe('a row of the table', () => {
  test.each(rows.filter(([, option]) => option.default !== undefined))(
    '%s has a default that passes its own check',
    (name, option) => {
      expect(option.type.check(name, option.default)).toBeDefined()
    },
  )
})

it('no name of another limiter means two options, or is an option of the same place', () => {
  const peers = rows.flatMap(([, { aliases = '', peers = {} }]) =>
    [aliases, ...Object.values(peers)].flatMap((names) => names.split(' ').filter(Boolean)),
  )
  expect(peers.filter((peer, i) => peers.indexOf(peer) !== i)).toEqual([])
  expect(peers.filter((peer) => OPTION_NAMES.http.includes(peer as never))).toEqual([])
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
    expect(OPTION_NAMES.policy).toContain('name')
    expect(OPTION_NAMES.onlyPolicy).not.toContain('name')
    for (const place of [OPTION_NAMES.limiter, OPTION_NAMES.http, OPTION_NAMES.route]) {
      expect(place.filter((option) => option === 'name')).toHaveLength(1)
    }
  })

  it('options that read a request are only for adapters', () => {
    expect(OPTION_NAMES.httpPolicy).toEqual([
      ...OPTION_NAMES.policy,
      'key',
      'shard',
      'cost',
      'settle',
    ])
    for (const option of ['key', 'shard', 'cost', 'settle', 'skip']) {
      expect(OPTION_NAMES.limiter).not.toContain(option)
      expect(OPTION_NAMES.http).toContain(option)
    }
  })

  it('a route has the store of its limiter', () => {
    const others = OPTION_NAMES.http.filter((option) => !OPTION_NAMES.route.includes(option))
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
      reserve: false,
    })
  })

  it('requires options without a default', () => {
    expect(() => policy({ limit: 5 })).toThrow(
      expect.objectContaining({ option: 'policies[0].window' }),
    )
  })

  it('treats null as a value, not as an option that is not set', () => {
    expect(() => policy({ limit: 5, window: '1m', name: null })).toThrow(/received null/i)
    expect(() => readOptions(OPTIONS.http, '', { ipv6Prefix: null })).toThrow(/received null/i)
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
