import { beforeAll, expect, test } from '@jest/globals'
import { isAll } from '@sluice/test-harness/jest'
import { type Cores, compileCore } from '../core.ts'
import { search } from '../search.ts'
import { loadOf } from './load-plan.ts'
import { playLoad } from './play.ts'

let cores: Cores
beforeAll(async () => {
  cores = await compileCore()
})

const seeds = isAll ? 40 : 12

test(`${seeds} runs with too much load find nothing`, async () => {
  const play = (seed: number) => playLoad(loadOf(seed), cores)
  expect((await search(play, 1, seeds)).found).toBeUndefined()
}, 600_000)

test('the same seed plays the same, in modules that others have used', async () => {
  const unused = await compileCore()
  const played = async (by: Cores) => {
    const { calls } = await playLoad(loadOf(2), by)
    return calls.map(({ result, begunAt }) => [result, begunAt])
  }
  const one = await played(unused)
  expect(one.length).toBeGreaterThan(1000)
  expect(await played(cores)).toEqual(one)
}, 60_000)
