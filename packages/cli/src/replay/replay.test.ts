import { describe, expect, it } from '@jest/globals'
import { Clients } from '../log/clients.ts'
import { LogEntry } from '../log/log-entry.ts'
import { Replay } from './replay.ts'

const MIB = 2 ** 20

function replayOf(whole: boolean): Replay {
  return new Replay({ runs: [], demands: [], whole, notes: [] }, new Clients())
}

/** A line at the second after 1970. */
function entry(second: number, size: number): LogEntry {
  return Object.assign(new LogEntry(), { time: second * 1000, size })
}

describe('lines that wait for their place', () => {
  it('go on early where whole ones would fill the memory, and stay in order', async () => {
    const replay = replayOf(true)
    for (let i = 0; i < 300; i += 1) {
      replay.take(entry(i % 30, MIB))
      await replay.play()
      expect(i + 1 - replay.requests).toBeLessThanOrEqual(128)
    }
    expect(300 - replay.requests).toBeGreaterThan(100)
    await replay.finish()
    expect(replay).toMatchObject({ requests: 300, fromMs: 0, toMs: 29_000 })
  })

  it('wait for a minute where client and cost are all that is kept', async () => {
    const replay = replayOf(false)
    for (let i = 0; i < 300; i += 1) replay.take(entry(i % 30, MIB))
    await replay.play()
    expect(replay.requests).toBe(0)
    await replay.finish()
    expect(replay).toMatchObject({ requests: 300, late: 0 })
  })
})
