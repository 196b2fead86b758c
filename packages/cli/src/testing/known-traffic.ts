import { random } from '@sluice/test-harness/random'

/** A request of traffic whose making is known. */
export interface KnownRequest {
  readonly atMs: number
  readonly client: string
  readonly cost: number
}

/** 2026-11-21 14:00:30 UTC: half a minute into a window of one. */
const START_MS = 1_795_269_630_000
const MINUTE_MS = 60_000

/**
 * 40 clients that come at random (a Poisson process, from 2 to 80 requests a minute), a scraper
 * that never stops, and one that sends 100 requests at each side of the edge of a window.
 */
export function knownTraffic(seed: number, minutes = 10): KnownRequest[] {
  const draw = random(seed)
  const requests: KnownRequest[] = []
  const end = START_MS + minutes * MINUTE_MS
  const cost = () => 1 + Math.floor(draw() * 3)
  for (let i = 0; i < 40; i += 1) {
    const meanMs = MINUTE_MS / (2 + 2 * i)
    for (let at = START_MS; ; ) {
      at += -Math.log(1 - draw()) * meanMs
      if (at >= end) break
      requests.push({ atMs: Math.floor(at), client: `198.51.100.${i + 1}`, cost: cost() })
    }
  }
  for (let at = START_MS; at < end; at += 250) {
    requests.push({ atMs: at, client: '203.0.113.9', cost: cost() })
  }
  const edge = Math.ceil(START_MS / MINUTE_MS + 3) * MINUTE_MS
  for (let i = 0; i < 200; i += 1) {
    const atMs = i < 100 ? edge - 1000 + i * 10 : edge + (i - 100) * 10
    requests.push({ atMs, client: '192.0.2.77', cost: 1 })
  }
  return requests.sort((one, other) => one.atMs - other.atMs)
}

export function toJsonLines(requests: readonly KnownRequest[]): string {
  return requests
    .map(({ atMs, client, cost }) => `${JSON.stringify({ time: atMs, ip: client, cost })}\n`)
    .join('')
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** The requests as a combined log: whole seconds and no cost. */
export function toCombined(requests: readonly KnownRequest[]): string {
  return requests
    .map(({ atMs, client }) => {
      const [date, time] = new Date(atMs).toISOString().slice(0, 19).split('T') as [string, string]
      const [year, month, day] = date.split('-')
      const clock = `${day}/${MONTHS[Number(month) - 1]}/${year}:${time} +0000`
      return `${client} - - [${clock}] "GET / HTTP/1.1" 200 512 "-" "curl/8.0"\n`
    })
    .join('')
}
