// The JSON Schema of limits.json takes what the API takes, and refuses what it refuses.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { createLimiter, memoryStore } from '@sluice/core'
import { Ajv } from 'ajv'

const schema = JSON.parse(readFileSync(join(__dirname, '../../../limits.schema.json'), 'utf8'))
const validate = new Ajv({ strict: true }).compile(schema)

const LIMIT = { limit: 10, window: '1h', live: true } as const
const OPTIONS = {
  bucket: { ...LIMIT, limit: 1e12, algorithm: 'token-bucket' },
  queue: { ...LIMIT, algorithm: 'leaky-bucket' },
  slots: { concurrent: 5, live: true },
  window: { ...LIMIT, algorithm: 'fixed-window' },
} as const

async function isTaken(name: keyof typeof OPTIONS, settings: unknown): Promise<boolean> {
  const store = memoryStore()
  const limiter = createLimiter({ store, name, ...OPTIONS[name] } as never)
  try {
    await (limiter as { policies: { diff(given: object): Promise<unknown> } }).policies.diff({
      [name]: settings,
    })
    return true
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^SLUICE_OPTION_/) })
    return false
  } finally {
    store.close()
  }
}

const NUMBERS = [0, 1, 2.5, -1, 1000, 1001, 1e12, 1e12 + 1, 2 ** 53 - 1, 2 ** 53, 1e300, '5', null]
const SHARES = [0, 0.1, 1, 1.01, -0.1, '0.1', null]
const each = (name: keyof typeof OPTIONS, setting: string, values: readonly unknown[]) =>
  values.map((value) => [name, { [setting]: value }] as const)

it.each([
  ...each('window', 'limit', NUMBERS),
  ...each('bucket', 'burst', NUMBERS),
  ...each('slots', 'concurrent', NUMBERS),
  ...each('queue', 'maxDelay', [0, 1, 2.5, -1, 1e300, 315_576_000_001, true]),
  ...each('queue', 'maxDelay', ['5s', '1.5 hours', '1min', '5', 's', '5 S', '-5s', '5  s', '']),
  ...each('queue', 'maxDelay', [`${'0'.repeat(38)}5s`, `${'0'.repeat(39)}5s`]),
  ...each('window', 'enforce', SHARES),
  ...each('window', 'alertAt', [[], [0], [0.8, 1], [1.1], ['1'], 0.8, Array(8).fill(1)]),
  ...each('window', 'alertAt', [Array(9).fill(1)]),
  ...each('window', 'dryRun', [true, false, 1, 'true', null]),
  ...each('window', 'window', ['1h']),
  ...each('window', 'algorithm', ['fixed-window']),
  ...each('window', 'key', ['user']),
  ['window', {}],
  ['window', { limit: 5, enforce: 0.1, alertAt: [1] }],
  ['window', { dryRun: true, enforce: 0.1 }],
  ['window', { dryRun: false, enforce: 0.1 }],
  ['window', 5],
  ['window', []],
  ['window', null],
] as const)('%s: %j', async (name, settings) => {
  expect(validate({ policies: { [name]: settings } })).toBe(await isTaken(name, settings))
})

it.each([
  [{ $schema: './limits.schema.json', policies: {} }, true],
  [{ policies: [] }, false],
  [{ policies: {}, limits: {} }, false],
  [{ $schema: 5, policies: {} }, false],
  [{}, false],
  [[], false],
])('a file: %j', (file, isRight) => {
  expect(validate(file)).toBe(isRight)
})
