import { median } from '../statistics/quartiles.ts'
import type { Results } from './results.ts'

type Meaning = (median: number) => string

const share: Meaning = (micros) => `${short(micros / 10)} % of a core at 1,000 requests a second`
const beside: Meaning = () => 'plus one round trip of the network'
const million: Meaning = (bytes) =>
  `${short(bytes)} MB and the keys themselves, for a million clients`

/** What docs/performance.md shows: its name there, the measurement, and what the figure means for a server. */
export const FIGURES: readonly (readonly [name: string, title: string, meaning: Meaning])[] = [
  ['One decision in memory', 'One decision in memory, 10,000 keys', (nanos) => share(nanos / 1000)],
  [
    'One client in memory',
    'Memory for one key, at 1,000,000 keys, the key itself left out',
    million,
  ],
  ...['Express', 'Fastify', 'Koa'].map(
    (name) =>
      [
        `${name}, in memory: CPU of Node`,
        `${name}: CPU that a limiter in memory adds to one request`,
        share,
      ] as const,
  ),
  ['Redis, a request at a time: CPU of Node', 'CPU of Node, one request at a time', share],
  ['Redis, a request at a time: CPU of Redis', 'CPU of Redis, one request at a time', share],
  ['Redis, 50 requests at once: CPU of Node', 'CPU of Node, 50 requests in a turn', share],
  ['Redis, 50 requests at once: CPU of Redis', 'CPU of Redis, 50 requests in a turn', share],
  ['Redis, 200 a second: median latency', 'Median latency on Redis, 200 requests a second', beside],
  [
    'Redis, 200 a second: 99th percentile',
    '99th percentile of that latency, 200 requests a second',
    beside,
  ],
]

/** The figures of one decision with the default options, each with what it means for a server. */
export function toFigures({ date, machine, versions, measurements }: Results): string {
  const rows = FIGURES.flatMap(([name, title, meaning]) => {
    const of = measurements.find((each) => each.title === title)
    const ours = of?.rows.find(({ contender }) => /^sluice( sliding-window)?$/.test(contender))
    if (of === undefined || ours === undefined) return []
    const value = median(ours.samples)
    return `| ${name} | ${short(value)} ${of.unit} | ${meaning(value)} |`
  })
  const redis = versions.Redis ? `, Redis ${versions.Redis} on the same machine` : ''
  return `
| what | for one request | which means |
|---|---|---|
${rows.join('\n')}

Measured on ${date.slice(0, 10)} with Node ${versions.Node}${redis}, ${machine.CPU}.
`
}

function short(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 2 })
}
