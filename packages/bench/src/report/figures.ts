import { figureOf, rowOf } from './measurement.ts'
import type { Results } from './results.ts'

type Meaning = (median: number) => string

/** What microseconds of CPU are of a core. */
const share: Meaning = (micros) => `${short(micros / 10)} % of a core at 1,000 requests a second`
const beside: Meaning = () => 'in addition to one round trip of the network'

/** What docs/performance.md shows: the name, the measurement, the contender, and what the figure means. */
export const FIGURES: readonly (readonly [string, string, string, Meaning])[] = [
  [
    'One decision in memory',
    'One decision in memory, 10,000 keys',
    'sluice sliding-window',
    (nanos) => share(nanos / 1000),
  ],
  [
    'One client in memory',
    'Memory for one key, at 1,000,000 keys, the key itself left out',
    'sluice sliding-window',
    (bytes) => `${short(bytes)} MB and the keys themselves, for a million clients`,
  ],
  [
    'Express, in memory: CPU of Node',
    'Express: CPU that a limiter in memory adds to one request',
    'sluice',
    share,
  ],
  [
    'Fastify, in memory: CPU of Node',
    'Fastify: CPU that a limiter in memory adds to one request',
    'sluice',
    share,
  ],
  [
    'Koa, in memory: CPU of Node',
    'Koa: CPU that a limiter in memory adds to one request',
    'sluice',
    share,
  ],
  [
    'Redis, a request at a time: CPU of Node',
    'CPU of Node, one request at a time',
    'sluice sliding-window',
    share,
  ],
  [
    'Redis, a request at a time: CPU of Redis',
    'CPU of Redis, one request at a time',
    'sluice sliding-window',
    share,
  ],
  [
    'Redis, 50 requests at once: CPU of Node',
    'CPU of Node, 50 requests in a turn',
    'sluice sliding-window',
    share,
  ],
  [
    'Redis, 50 requests at once: CPU of Redis',
    'CPU of Redis, 50 requests in a turn',
    'sluice sliding-window',
    share,
  ],
  [
    'Redis, 200 requests a second: median latency',
    'Median latency on Redis, 200 requests a second',
    'sluice sliding-window',
    beside,
  ],
  [
    'Redis, 200 requests a second: 99th percentile',
    '99th percentile of that latency, 200 requests a second',
    'sluice sliding-window',
    beside,
  ],
]

/** The figures of one decision, each with what it means for a server. */
export function toFigures({ date, machine, versions, measurements }: Results): string {
  const rows = FIGURES.flatMap(([name, title, contender, meaning]) => {
    const of = measurements.find((each) => each.title === title)
    if (of === undefined) return []
    const { median } = figureOf(rowOf(of, contender))
    return `| ${name} | ${short(median)} ${of.unit} | ${meaning(median)} |`
  })
  const node = `Node ${versions.Node}`
  const redis = versions.Redis ? `, Redis ${versions.Redis} on the same machine` : ''
  return `
| what | for one request | which means |
|---|---|---|
${rows.join('\n')}

Measured on ${date.slice(0, 10)} with ${node}${redis}, ${machine.CPU}.
`
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 })
}
