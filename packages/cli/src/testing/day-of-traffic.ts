import { random } from '@sluice/test-harness/random'
import type { KnownRequest } from './known-traffic.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const START = Date.UTC(2026, 10, 20)

/**
 * A day of an API, the same each time: 1,200 clients that come and go, most of them around two in the
 * afternoon, each at a rate of its own; a scraper; one client that knows where windows end; and one
 * that sends everything together, every hour.
 */
export function dayOfTraffic(): KnownRequest[] {
  const draw = random(20)
  const requests: KnownRequest[] = []
  const send = (at: number, client: string) => {
    if (at >= START && at < START + 24 * HOUR)
      requests.push({ atMs: Math.floor(at), client, cost: 1 })
  }
  const exponential = (mean: number) => -Math.log(1 - draw()) * mean
  /** Draws from about the normal distribution, of mean 0 and deviation 1. */
  const normal = () => (draw() + draw() + draw() - 1.5) * 2

  /** Requests as they come by chance. */
  function visit(client: string, from: number, length: number, meanMs: number): void {
    for (let at = from + exponential(meanMs); at < from + length; at += exponential(meanMs))
      send(at, client)
  }

  for (let i = 0; i < 1200; i += 1) {
    const client = `198.51.${100 + (i >> 8)}.${i & 255}`
    const perMinute = 4 * Math.exp(1.05 * normal())
    for (let visits = 1 + Math.floor(draw() * 3); visits > 0; visits -= 1) {
      const from = START + 14 * HOUR + normal() * 4 * HOUR
      visit(client, from, exponential(8 * MINUTE), MINUTE / perMinute)
    }
  }
  visit('203.0.113.77', START + 13.5 * HOUR, 2.5 * HOUR, 250)
  visit('203.0.113.78', START + 20 * HOUR, 0.75 * HOUR, 350)
  for (let edge = START + 9 * HOUR; edge < START + 15 * HOUR; edge += 10 * MINUTE)
    for (let i = -95; i < 95; i += 1) send(edge + i * 20, '192.0.2.44')
  for (let hour = 8; hour < 20; hour += 1)
    for (let i = 0; i < 140; i += 1) send(START + hour * HOUR + 30_000 + i * 40, '192.0.2.90')
  return requests.sort((one, other) => one.atMs - other.atMs)
}
