import { random } from '@sluice/test-harness/random'
import { dayOfTraffic } from './day-of-traffic.ts'
import type { KnownRequest } from './known-traffic.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 20)
const END = START + 30 * MINUTE
/** Clients of each kind of traffic but the day. */
const CLIENTS = 20

/**
 * The traffic that docs/algorithms.md compares the algorithms on, for a limit of 100 per minute: the same
 * each time. The first three are of clients that do no harm, the last two of clients that take all they get.
 */
export const kindsOfTraffic: Readonly<Record<string, () => KnownRequest[]>> = {
  'a day of an API': () => dayOfTraffic().filter(({ client }) => /^198\.51\./.test(client)),
  'evenly, 99 per minute': () => {
    const draw = random(5)
    // So little that no 60 s ever have more than 100 requests.
    const late = () => draw() * 300
    return ofEachClient((from) => every(MINUTE / 99, from).map((at) => at + late()))
  },
  'all 100 at once, then a pause': () => {
    const draw = random(6)
    return ofEachClient((from) => {
      const times: number[] = []
      for (let at = from; at < END; at += (62 + 30 * draw()) * 1000)
        times.push(...every(20, at, at + 2000))
      return times
    })
  },
  '4 a second, without a pause': () => ofEachClient((from) => every(250, from)),
  'a burst at the end of a window, then 20 a second': () =>
    ofEachClient(() => {
      const times: number[] = []
      for (let edge = START + MINUTE; edge < END; edge += 2 * MINUTE)
        times.push(...every(1, edge - 100, edge), ...every(50, edge, edge + MINUTE))
      return times
    }),
}

/** Times from one moment until before another. */
function every(ms: number, from: number, until = END): number[] {
  return Array.from({ length: Math.ceil((until - from) / ms) }, (_, i) => from + i * ms)
}

/** @param timesOf the times of a client's requests, from the moment when it begins */
function ofEachClient(timesOf: (from: number) => number[]): KnownRequest[] {
  const requests = Array.from({ length: CLIENTS }, (_, i) =>
    timesOf(START + i * 137).map((at) => ({
      atMs: Math.floor(at),
      client: `192.0.2.${i}`,
      cost: 1,
    })),
  )
  return requests.flat().sort((one, other) => one.atMs - other.atMs)
}
