import { setImmediate } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { type Contest, runRounds } from './rounds.ts'

const ignore = () => {}

/** Notes what it does, and gives the number of its start as its samples. */
function contestOf(contender: string, notes: string[]): Contest<number> {
  let starts = 0
  return {
    contender,
    async start() {
      starts += 1
      const sample = starts
      await setImmediate()
      notes.push(`start ${contender}`)
      return {
        async measure() {
          notes.push(`measure ${contender}`)
          return sample
        },
        async stop() {
          notes.push(`stop ${contender}`)
        },
      }
    },
  }
}

it('each round measures every contender once, and each start has its rounds', async () => {
  const notes: string[] = []
  const contests = ['a', 'b'].map((contender) => contestOf(contender, notes))
  const samples = await runRounds(contests, { starts: 2, rounds: 3 }, ignore)
  expect(Object.fromEntries(samples)).toEqual({
    a: [1, 1, 1, 2, 2, 2],
    b: [1, 1, 1, 2, 2, 2],
  })
  const rounds = notes.filter((note) => note.startsWith('measure'))
  for (let i = 0; i < rounds.length; i += 2) {
    expect(rounds.slice(i, i + 2).toSorted()).toEqual(['measure a', 'measure b'])
  }
})

it('all have started before the first is measured, and stop when the rounds are over', async () => {
  const notes: string[] = []
  const contests = ['a', 'b'].map((contender) => contestOf(contender, notes))
  await runRounds(contests, { starts: 1, rounds: 2 }, ignore)
  expect(notes.slice(0, 2)).toEqual(['start a', 'start b'])
  expect(notes.slice(-2)).toEqual(['stop a', 'stop b'])
})

it('where one cannot start, the others stop', async () => {
  const notes: string[] = []
  const broken: Contest<number> = {
    contender: 'broken',
    start: () => Promise.reject(new Error('no port')),
  }
  const contests = [broken, contestOf('a', notes)]
  await expect(runRounds(contests, { starts: 1, rounds: 1 }, ignore)).rejects.toThrow('no port')
  expect(notes).toEqual(['start a', 'stop a'])
})
