// npm run bench -- overload: servers at 0.8, 1, 3 and 10 times what they can do, each with another protection.
// `--seconds 1 --rounds 1 --loads 3` measures less.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { markdownTable } from 'markdown-table'
import { machine } from '../environment.ts'
import { home, install } from '../processes/install.ts'
import { contest } from '../processes/run-task.ts'
import { beginReport } from '../report/print.ts'
import { median, quantile } from '../statistics/quartiles.ts'
import { overloadChart, type Shown } from './chart.ts'
import { type Answer, closedLoop, openLoop } from './load.ts'
import type { OverloadTask } from './server.script.ts'

const { values } = parseArgs({
  options: {
    /** How long each load lasts, s. */
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    loads: { type: 'string', default: '0.8,1,3,10' },
    /** Writes the charts of docs/overload.md. */
    write: { type: 'boolean', default: false },
  },
})

const HANDLERS = ['cpu', 'database', 'mix'] as const
const CONTENDERS = [
  'none',
  'sluice',
  'sluice in front',
  '@fastify/under-pressure',
  'overload-protection',
  'toobusy-js',
]
const LOADS = values.loads.split(',').map(Number)
const LOAD_MS = Number(values.seconds) * 1000
const GOOD_MS = 1000

/** The measurement of one server at one load. */
interface Run extends Shown {
  /** The slowest hundredth of those that are served, ms. */
  readonly p99: number
}

/** Runs something with the port of a server. */
async function on<T>(task: OverloadTask, act: (port: number) => Promise<T>): Promise<T> {
  const server = await contest<number>(task.contender, 'overload/server', task).start()
  try {
    return await act(await server.measure())
  } finally {
    await server.stop()
  }
}

/** How many requests a second a server can do. */
function capacityOf(handler: OverloadTask['handler']): Promise<number> {
  return on({ contender: 'none', handler }, async (port) => {
    await closedLoop(port, 12, 1000)
    return closedLoop(port, 12, 3000)
  })
}

async function measure(task: OverloadTask, load: number, capacity: number): Promise<Run> {
  const answers = await on(task, async (port) => {
    await openLoop(port, { perSecond: capacity / 2, critical: capacity / 4, ms: 1500 })
    return openLoop(port, { perSecond: capacity * load, critical: capacity / 2, ms: LOAD_MS })
  })
  const served = answers.filter(({ status }) => status === 200).map(({ ms }) => ms)
  const good = answers.filter(({ status, ms }) => status === 200 && ms <= GOOD_MS)
  const isCritical = ({ path }: Answer) => path === '/critical'
  return {
    ...task,
    load,
    goodput: (good.length * 1000) / LOAD_MS / capacity,
    critical: good.filter(isCritical).length / answers.filter(isCritical).length,
    p99: served.length === 0 ? Infinity : quantile(served, 0.99),
  }
}

/** The medians of the rounds of a server at a load. */
function mediansOf(runs: readonly Run[]): Run {
  const of = (name: 'goodput' | 'critical' | 'p99') => median(runs.map((run) => run[name]))
  return { ...(runs[0] as Run), goodput: of('goodput'), critical: of('critical'), p99: of('p99') }
}

const print = beginReport()
await install()
const runs = new Map<string, Run[]>()
for (let round = 1; round <= Number(values.rounds); round += 1) {
  for (const handler of HANDLERS) {
    const capacity = await capacityOf(handler)
    console.error(`round ${round}, ${handler}: ${capacity.toFixed(0)} requests a second`)
    for (const load of LOADS) {
      for (const contender of CONTENDERS) {
        const run = await measure({ contender, handler }, load, capacity)
        const key = `${load} ${handler} ${contender}`
        runs.set(key, [...(runs.get(key) ?? []), run])
      }
    }
  }
}
const medians = [...runs.values()].map(mediansOf).sort((a, b) => a.load - b.load)
const rows = medians.map(({ load, handler, contender, goodput, critical, p99 }) => {
  const share = `${(critical * 100).toFixed(0)} %`
  return [`${load}`, handler, contender, goodput.toFixed(2), share, p99.toFixed(0)]
})
const head = ['load', 'handler', 'protection', 'goodput', 'critical', 'p99, ms']
const table = markdownTable([head, ...rows], { align: ['r', 'l', 'l', 'r', 'r', 'r'] })
await print([table], ['@fastify/under-pressure', 'overload-protection', 'toobusy-js'])
if (values.write) {
  const facts = [machine().CPU as string, `Node ${process.versions.node}`]
  for (const [name, columns] of [['', 2] as const, ['-narrow', 1] as const]) {
    const chart = overloadChart(medians, facts, columns)
    writeFileSync(join(home, `../../docs/images/overload${name}.svg`), chart)
  }
}
