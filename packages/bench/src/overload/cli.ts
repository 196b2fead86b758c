// npm run bench -- overload: servers at 0.8, 1, 3 and 10 times what they can do, each with another protection.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { markdownTable } from 'markdown-table'
import { machine, packageVersion, versions } from '../environment.ts'
import { home } from '../processes/bundle.ts'
import { median, quantile } from '../statistics/quartiles.ts'
import { measureAdded } from './added.ts'
import { overloadChart } from './chart.ts'
import { CONTENDERS, HANDLERS, type Job, type Run } from './job.ts'
import { type Answer, closedLoop, openLoop, watchHealth } from './load.ts'

const { values } = parseArgs({
  options: {
    /** How long each load lasts, s. */
    seconds: { type: 'string', default: '8' },
    rounds: { type: 'string', default: '3' },
    /** A part of the name of the contenders and of the handlers that run. */
    contender: { type: 'string', default: '' },
    handler: { type: 'string', default: '' },
    loads: { type: 'string', default: '0.8,1,3,10' },
    /** Writes the charts of docs/overload.md. */
    write: { type: 'boolean', default: false },
  },
})

const LOAD_MS = Number(values.seconds) * 1000
/** After the load, half of what the server can do is asked for so long. */
const AFTER_MS = 6000
const GOOD_MS = 1000
const LOADS = values.loads.split(',').map(Number)
const script = fileURLToPath(new URL('server.ts', import.meta.url))

async function start(job: Job): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(script, [JSON.stringify(job)], {
    execArgv: ['--import', 'tsx'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

async function rssOf(child: ChildProcess): Promise<number> {
  child.send('memory')
  const [{ bytes }] = (await once(child, 'message')) as [{ bytes: number }]
  return bytes
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

async function capacityOf(handler: Job['handler']): Promise<number> {
  const { child, port } = await start({ contender: 'none', handler })
  await closedLoop(port, 12, 1000)
  const perSecond = await closedLoop(port, 12, 3000)
  await stop(child)
  return perSecond
}

async function measure(job: Job, load: number, capacity: number): Promise<Run> {
  const { child, port } = await start(job)
  await openLoop(port, { perSecond: capacity / 2, critical: capacity / 4, ms: 1500 })
  const before = await rssOf(child)
  const critical = capacity / 2
  const [answers, health] = await Promise.all([
    openLoop(port, { perSecond: capacity * load, critical, ms: LOAD_MS }),
    watchHealth(port, LOAD_MS),
  ])
  const after = await openLoop(port, { perSecond: critical, critical: critical / 2, ms: AFTER_MS })
  const grownMB = ((await rssOf(child)) - before) / 2 ** 20
  await stop(child)
  const served = answers.filter(({ status }) => status === 200)
  const good = served.filter(({ ms }) => ms <= GOOD_MS)
  const isCritical = ({ path }: Answer) => path === '/critical'
  return {
    ...job,
    load,
    goodput: (good.length * 1000) / LOAD_MS / capacity,
    critical: good.filter(isCritical).length / answers.filter(isCritical).length,
    refused: answers.length - served.length,
    p99:
      served.length === 0
        ? Infinity
        : quantile(
            served.map(({ ms }) => ms),
            0.99,
          ),
    recovered: recoveredAfter(after),
    grownMB,
    health,
  }
}

function recoveredAfter(after: readonly Answer[]): number {
  for (let second = 0; second < AFTER_MS / 1000; second += 1) {
    const asked = after.filter(({ at }) => Math.floor(at / 1000) === second)
    if (asked.length > 0 && asked.every(({ status }) => status === 200)) return second + 1
  }
  return Infinity
}

/** The medians of the rounds. */
function mediansOf(runs: readonly Run[]): Run[] {
  const groups = new Map<string, Run[]>()
  for (const run of runs) groups.set(keyOf(run), [...(groups.get(keyOf(run)) ?? []), run])
  return [...groups.values()].map((group) => {
    const [first] = group as [Run]
    const of = (
      name: 'goodput' | 'critical' | 'refused' | 'p99' | 'recovered' | 'grownMB' | 'health',
    ) => median(group.map((run) => run[name]))
    return {
      ...first,
      goodput: of('goodput'),
      critical: of('critical'),
      refused: of('refused'),
      p99: of('p99'),
      recovered: of('recovered'),
      grownMB: of('grownMB'),
      health: of('health'),
    }
  })
}

const keyOf = ({ handler, contender, load }: Run) => `${handler} ${contender} ${load}`
const percent = (share: number) => `${(share * 100).toFixed(0)} %`

function tableOf(medians: readonly Run[], load: number): string {
  const header = [
    'handler',
    'protection',
    'goodput',
    'critical',
    'refused',
    'p99, ms',
    'p99 beside 0.8 ×',
    'recovered, s',
    'memory, MB',
    'health',
  ]
  const rows = medians
    .filter((run) => run.load === load)
    .map((run) => {
      const calm = medians.find(
        ({ handler, contender, load }) =>
          handler === run.handler && contender === run.contender && load === 0.8,
      )
      return [
        run.handler,
        run.contender,
        run.goodput.toFixed(2),
        percent(run.critical),
        run.refused.toFixed(0),
        run.p99.toFixed(0),
        calm === undefined ? '' : (run.p99 / calm.p99).toFixed(1),
        run.recovered === Infinity ? 'never' : `${run.recovered}`,
        run.grownMB.toFixed(0),
        percent(run.health),
      ]
    })
  return markdownTable([header, ...rows], { align: ['l', 'l', ...header.slice(2).map(() => 'r')] })
}

const runs: Run[] = []
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const handler of HANDLERS.filter((each) => each.includes(values.handler))) {
    const capacity = await capacityOf(handler)
    console.error(`round ${round + 1}, ${handler}: ${capacity.toFixed(0)} requests a second`)
    for (const load of LOADS) {
      for (const contender of CONTENDERS.filter((each) => each.includes(values.contender))) {
        const run = await measure({ contender, handler }, load, capacity)
        runs.push(run)
        console.error(JSON.stringify(run))
      }
    }
  }
}
const medians = mediansOf(runs)
const addedUs = await measureAdded()
for (const load of LOADS) console.log(`\n${load} × capacity\n\n${tableOf(medians, load)}`)
const peers = ['@fastify/under-pressure', 'overload-protection', 'toobusy-js'].map(
  (name) => `${name} ${packageVersion(name)}`,
)
console.log(
  `\nA request that is admitted takes ${addedUs.toFixed(1)} µs more CPU, without sockets.`,
)
const { Node } = await versions()
const facts = [`Node ${Node}`, ...peers, ...Object.values(machine())]
console.log(`\n${facts.join(' · ')}`)
if (values.write) {
  const { chart, narrow } = overloadChart(medians, `${machine().CPU} · Node ${Node}`)
  writeFileSync(join(home, '../../docs/images/overload.svg'), chart)
  writeFileSync(join(home, '../../docs/images/overload-narrow.svg'), narrow)
}
