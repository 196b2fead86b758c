import { random } from '@sluice/test-harness/random'
import type { Demand, Report, Run } from '../report/report.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 20)
const STEP = 15 * MINUTE
const STEPS = 96
const LIMIT = 100

/** The results of each algorithm on the same day: shares of the excess refused, and who got past it. */
const ALGORITHMS = [
  { name: 'fixed-window', share: 0.72, most: 196, over: [17, 9, 4], keys: 612 },
  { name: 'sliding-window', share: 0.86, most: 118, over: [9, 0, 0], keys: 655 },
  { name: 'sliding-log', share: 0.9, most: 100, over: [0, 0, 0], keys: 655 },
  { name: 'token-bucket', share: 0.8, most: 199, over: [16, 8, 4], burst: LIMIT, keys: 655 },
  { name: 'leaky-bucket', share: 1, most: 101, over: [3, 0, 0], maxDelayMs: 1000, keys: 655 },
] as const

/** Made up, the same each time: a day with a scraper in the afternoon. */
export function sampleReport(change: Partial<Report> = {}): Report {
  const draw = random(7)
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const hour = (step * STEP) / (60 * MINUTE)
    const day = 900 + 700 * Math.sin(((hour - 8) / 24) * 2 * Math.PI)
    const ordinary = Math.round(day * (0.9 + 0.2 * draw()))
    const scraping = hour >= 13.5 && hour < 16 ? 1100 : hour >= 20 && hour < 20.7 ? 500 : 0
    return { ordinary, excess: Math.round((scraping + 12) * (0.85 + 0.3 * draw())) }
  })
  const requests = steps.map(({ ordinary, excess }) => ordinary + excess)
  const excess = steps.map((step) => step.excess)
  const total = sum(requests)
  const clients = sum(BINS.map(({ clients }) => clients))
  return {
    schema: 1,
    source: {
      names: ['access.log', 'access.log.1.gz'],
      masked: true,
      format: 'combined',
      lines: total + 3,
      unreadable: 3,
      unreadableLines: [
        {
          name: 'access.log',
          line: 4711,
          text: '000.00.000.0 - - [00/xxx/0000:00:0',
          reason: 'ends within the time',
        },
        { name: 'access.log', line: 90_210, text: '', reason: 'has no address' },
        {
          name: 'access.log.1.gz',
          line: 12,
          text: '\\u0016\\u0003\\u0001 - -',
          reason: 'is no line of a combined log',
        },
      ],
      early: 0,
      late: 14,
      wholeSeconds: true,
      fromMs: START + 1_250,
      toMs: START + STEPS * STEP - 480,
      interrupted: false,
    },
    requests: total,
    clients,
    timeline: { startMs: START, stepMs: STEP, requests },
    runs: ALGORITHMS.map((algorithm) => runOf(algorithm, requests, excess)),
    demand: [
      {
        windowMs: MINUTE,
        limits: [LIMIT],
        bins: BINS,
        quantiles: [
          { share: 0.5, peak: 4 },
          { share: 0.9, peak: 21 },
          { share: 0.99, peak: 88 },
          { share: 0.999, peak: 240 },
        ],
      },
    ],
    findings: [
      'fixed-window let 4 clients through with more than 150 % of the limit',
      'token-bucket let 4 clients through with more than 150 % of the limit',
    ],
    suggestion: {
      windowMs: MINUTE,
      rows: [
        { share: 0.99, limit: 88, burst: 61 },
        { share: 0.999, limit: 240, burst: 134 },
        { share: 0.9999, limit: 1180, burst: 420 },
      ],
    },
    ...change,
  }
}

function runOf(
  algorithm: (typeof ALGORITHMS)[number],
  requests: readonly number[],
  excess: readonly number[],
): Run {
  const { name, share, most, over, keys } = algorithm
  const refusedTimeline = excess.map((n) => Math.round(n * share))
  const admittedTimeline = requests.map((n, i) => n - (refusedTimeline[i] as number))
  const refused = sum(refusedTimeline)
  const parts = [0.38, 0.23, 0.11, 0.06, 0.04, 0.03, 0.02]
  return {
    name,
    wouldRefuse: [0],
    policies: [
      {
        name: 'default',
        algorithm: name,
        limit: LIMIT,
        windowMs: MINUTE,
        ...('burst' in algorithm ? { burst: algorithm.burst } : {}),
        ...('maxDelayMs' in algorithm ? { maxDelayMs: algorithm.maxDelayMs } : {}),
      },
    ],
    requests: sum(requests),
    admitted: sum(admittedTimeline),
    refused,
    exempt: 0,
    clientsRefused: Math.round(19 * share),
    bans: 0,
    clientsBanned: 0,
    most: [
      {
        policy: 'default',
        units: most,
        client: '203.0.113.x#1',
        atMs: START + 14 * 60 * MINUTE + 30_250,
        over: [1, 1.25, 1.5].map((part, i) => ({ share: part, clients: over[i] as number })),
      },
    ],
    longestRefusedMs: Math.round(share * 8_130_000),
    peakKeys: keys,
    admittedTimeline,
    refusedTimeline,
    mostRefused: parts.map((part, i) => ({
      client: i % 2 === 0 ? `203.0.113.x#${i + 1}` : `2001:db8:${i}::/56`,
      requests: Math.round(refused * part * (1.2 + i / 4)),
      refused: Math.round(refused * part),
      longestRefusedMs: Math.round((share * 8_130_000) / (1 + i * i)),
    })),
  }
}

const BINS: Demand['bins'] = [
  [1, 1, 412],
  [2, 2, 388],
  [3, 3, 301],
  [4, 4, 260],
  [5, 6, 344],
  [7, 8, 221],
  [9, 12, 240],
  [13, 16, 131],
  [17, 24, 118],
  [25, 32, 74],
  [33, 48, 52],
  [49, 64, 31],
  [65, 96, 17],
  [97, 128, 11],
  [129, 192, 5],
  [193, 256, 2],
  [257, 384, 0],
  [385, 512, 1],
  [513, 768, 0],
  [769, 1024, 0],
  [1025, 1536, 1],
].map(([from, to, clients]) => ({ from, to, clients }) as Demand['bins'][number])

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
