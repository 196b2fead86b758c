// The stores of docs/stores.md, unchanged, behind a limiter. The packed suite tests the rest.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { createLimiter, type Store } from '@sluice/core'
import { manualClock } from '@sluice/core/testing'
import { patient } from '@sluice/test-harness/redis'

const markdown = readFileSync(join(__dirname, '../../../../docs/stores.md'), 'utf8')
const blocks = [...markdown.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, source]) => source as string)
const folder = mkdtempSync(join(__dirname, '../../.blocks-'))
const file = join(folder, 'documented.ts')
writeFileSync(file, blocks.filter((source) => source.includes('export function')).join('\n'))
afterAll(() => rmSync(folder, { recursive: true }))

type Create = (clock?: () => number) => Store<'async'>
const { slowMapStore, versionedMapStore } = require(file) as Record<string, Create>

test('each is short enough to read at a glance', () => {
  for (const source of blocks) expect(source.split('\n').length).toBeLessThan(40)
})

test.each([slowMapStore, versionedMapStore] as Create[])(
  'of 300 simultaneous requests from two limiters, 100 pass',
  async (create) => {
    const store = create(manualClock())
    const terms = { prefix: 'sluice', limit: 100, window: '1m', algorithm: 'sliding-log' } as const
    const limiters = [1, 2].map(() => createLimiter({ ...patient, store, ...terms }))
    const decisions = await Promise.all(
      Array.from({ length: 300 }, (_, i) => limiters[i % 2]?.consume('client')),
    )
    expect(decisions.filter((each) => each?.allowed)).toHaveLength(100)
    expect(decisions.filter((each) => each?.source !== 'store')).toEqual([])
  },
)

test('bytes that are no state fail their own request, which this process then decides', async () => {
  const broken = createLimiter({
    store: brokenStore(),
    limit: 1,
    window: '1m',
  })
  const [well, ill] = await Promise.all([broken.consume('well'), broken.consume('ill')])
  expect([well?.source, ill?.source]).toEqual(['store', 'local'])
})

/** A store in which the state of one client is not what Sluice has written. */
function brokenStore(): Store<'async'> {
  const { transactionalStore } = require('@sluice/transactional')
  return transactionalStore({
    transact: async (keys: readonly string[], decide: CallableFunction) => {
      const states = keys.map((key) => (key.includes('ill') ? new Uint8Array(5) : undefined))
      return decide(states, Date.now()).value
    },
  })
}
