// The work of one call of each kind, which is what makes it keep Redis busy: how many arguments the
// longest call has, and how many commands a script runs per call. Neither depends on a clock;
// `npm run bench -- calls` measures the time. The bounds are a little above what was measured when
// they were set; a call of the background may be among those that a case made.

import { describe, expect, it } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'
import { callsOf } from '../calls/calls-of.ts'
import { cases } from '../calls/cases.ts'

const MOST: Record<string, { readonly args: number; readonly commands: number }> = {
  'decide: 1000 requests of one turn, sliding window': { args: 165, commands: 340 },
  'decide: 1000 requests of one turn, 3 buckets': { args: 165, commands: 435 },
  'decide: 1000 requests of one turn, 32 buckets': { args: 165, commands: 480 },
  'decide: 1000 requests of one turn, sliding log of 10000': { args: 8, commands: 6 },
  'decide: 100 of one turn, refused by a full sliding log of 10000': { args: 12, commands: 50 },
  'decide: all but one entry of the log have expired': { args: 12, commands: 55 },
  'decide: the clock has stepped back behind the log': { args: 12, commands: 65 },
  'decide: 100 of one turn take slots, 900 of 1000 are in use': { args: 55, commands: 115 },
  'decide: 1000 reservations of a key, all of which have ended': { args: 16, commands: 20 },
  'decide: 1000 reservations of a key, and the clock has stepped back': { args: 16, commands: 20 },
  'peek: a full sliding log, for all of it': { args: 12, commands: 30 },
  'settle: gives all entries of a log back': { args: 12, commands: 60 },
  'settle: gives back in the middle of a log': { args: 12, commands: 25 },
  'settle: charges more before all entries of a log': { args: 12, commands: 25 },
  'release: one of 1000 slots of a key': { args: 12, commands: 10 },
  'renew: 1000 slots of one key': { args: 300, commands: 270 },
  'renew: 1000 slots of 1000 keys': { args: 55, commands: 80 },
  'block: a full sliding log of 10000': { args: 9, commands: 3 },
  'reset: a full sliding log of 10000': { args: 9, commands: 3 },
  'inspect: 25 sliding logs of 10000, half of each has expired': { args: 12, commands: 26 },
}

const redis = useRedis()

describe('no call gives Redis much to do', () => {
  it.each(cases)('$kind: $what', async (each) => {
    const most = MOST[`${each.kind}: ${each.what}`]
    const { micros, args, commands } = await callsOf(redis.client, each)
    expect(micros.length).toBeGreaterThan(0)
    expect(args).toBeLessThanOrEqual(most?.args as number)
    expect(commands).toBeLessThanOrEqual(most?.commands as number)
  })
})
