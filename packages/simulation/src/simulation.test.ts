import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { chooseSeeds } from './choose-seeds.ts'
import { type Cores, compileCore } from './core.ts'
import { planOf } from './draw-plan.ts'
import { mutantsOfModel } from './model/check-model.ts'
import type { Plan } from './plan.ts'
import { explain, search } from './search.ts'
import { shorten } from './shorten.ts'
import { simulate } from './simulation.ts'

let cores: Cores
beforeAll(async () => {
  cores = await compileCore()
})

/** Seeds whose plans have everything that those of the first thousand have. `redis/redis.test.ts` plays some in Lua. */
const seeds = chooseSeeds(1000, 100)

test(`${seeds.length} seeds find nothing`, async () => {
  for (const seed of seeds)
    expect([seed, (await simulate(planOf(seed), cores)).failure]).toEqual([seed, undefined])
  // Many seconds of computing for a hundred and more, which a busy machine makes several.
}, 1_800_000)

/** Plans that have failed, as small as they could be made, with what was wrong. */
const regressions = readFileSync(join(import.meta.dirname, 'regressions.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { readonly was: string; readonly plan: Plan })

test.each(regressions)('$was: no more', async ({ plan }) => {
  expect((await simulate(plan, cores)).failure).toBeUndefined()
})

test('each mistake of the model of slots is in the documentation', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/internals/testing.md'), 'utf8')
  const named = text.match(/MUTANT_[A-Z_]+/g)
  expect(named?.sort()).toEqual(await mutantsOfModel())
})

test('the same seed tells the same story, byte for byte, in modules that others have used', async () => {
  const unused = await compileCore()
  for (const seed of [3, 14, 15]) {
    const one = await simulate(planOf(seed), unused, { tells: true })
    expect(one.story.length).toBeGreaterThan(20)
    expect(await simulate(planOf(seed), cores, { tells: true })).toEqual(one)
  }
})

test('a story counts equal events of each party', () => {
  const story = ['1.000  a: asks 1', '1.500  b: asks 1', '2.000  a: gets 1', '3.000  a: asks 2']
  expect(shorten([...story, '4.000  check: two'])).toEqual([
    '1.000  a: asks 1 (and 1 more like it until 3.000)',
    '1.500  b: asks 1',
    '2.000  a: gets 1',
    '4.000  check: two',
  ])
})

describe('a mistake', () => {
  const find = (mistaken: Cores, count: number) =>
    search((seed) => simulate(planOf(seed), mistaken), 1, count)

  test('is found at the same event each time, and its plan is made smaller', async () => {
    const mistaken = await compileCore([
      {
        file: 'core/src/algorithms/fixed-window/fixed-window.ts',
        text: 'const admitted = cost <= room && room > 0',
        by: 'const admitted = cost <= room + 1 && room > 0',
      },
    ])
    const { found } = await find(mistaken, 100)
    const { failure, seed } = found!
    const { smallest, story } = await explain(found!, mistaken)
    expect((await simulate(planOf(seed), mistaken)).failure).toEqual(failure)
    expect(smallest.requests.length * 5).toBeLessThan(planOf(seed).requests.length)
    expect(story.at(-1)).toContain(failure.check)
    expect((await simulate(smallest, cores)).failure).toBeUndefined()
  })

  test('is found that gives back leased units and goes on using them', async () => {
    const mistaken = await compileCore([
      {
        file: 'core/src/limiter/leases/lease-ledger.ts',
        text: '    key.lease = undefined\n    this.#leased.delete(key)',
        by: '    this.#leased.delete(key)',
      },
    ])
    const { found } = await find(mistaken, 200)
    expect(found?.failure.check).toBe('lease')
  })

  test('is found that makes a settlement of a budget again under another number', async () => {
    const mistaken = await compileCore([
      {
        file: 'core/src/limiter/settle-until-confirmed.ts',
        text: '(ends(each) ? each :',
        by: '(ends(each) ? { ...each, claim: [host.machine.random32(), ...each.claim.slice(1)] } :',
      },
    ])
    const { found } = await find(mistaken, 50)
    expect(found?.failure.check).toBe('budget')
  })

  test('must be there exactly once', async () => {
    const file = 'core/src/algorithms/fixed-window/fixed-window.ts'
    await expect(compileCore([{ file, text: 'state.b', by: '' }])).rejects.toThrow('has 7 times')
    await expect(compileCore([{ file: 'none.ts', text: '', by: '' }])).rejects.toThrow(
      'nothing imports',
    )
  })
})
