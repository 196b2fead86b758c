import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import { AS_PEER, FLOOR_OF_DEFAULTS, FLOOR_OF_PEER } from '../contenders/http.ts'
import type { Plan } from '../plan.ts'
import { runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import { floor, goal } from '../report/bar.ts'
import { addedTo, measurementOf, rowOf } from '../report/measurement.ts'
import type { Bar, Findings, Measurement } from '../report/results.ts'
import type { RequestsTask } from './requests.script.ts'

type Log = (line: string) => void

/** The limiter of each framework that ours is held against. */
const PEERS: { readonly [framework in FrameworkName]: string } = {
  Express: 'express-rate-limit',
  Fastify: '@fastify/rate-limit',
  Koa: 'koa-ratelimit',
  Hono: 'hono-rate-limiter',
  'Hono on @hono/node-server 1': 'hono-rate-limiter',
}

/** Measures the time that a limiter in memory adds to a request, in each framework, without a network. */
export async function measureHttp(plan: Plan, log: Log): Promise<Findings> {
  const findings: Findings[] = []
  for (const framework of Object.keys(frameworks) as FrameworkName[]) {
    findings.push(await measureFramework(framework, plan, log))
  }
  return {
    measurements: findings.flatMap(({ measurements }) => measurements),
    bars: findings.flatMap(({ bars }) => bars),
  }
}

async function measureFramework(framework: FrameworkName, plan: Plan, log: Log): Promise<Findings> {
  const { warmUpMs, requestsMs: measuredMs } = plan
  const contests = Object.keys(frameworks[framework]).map((contender) => {
    const task: RequestsTask = { framework, contender, warmUpMs, measuredMs }
    return contest<number>(contender, 'requests', task)
  })
  const costs = await runRounds(contests, plan, (line) => log(`http, ${framework}: ${line}`))
  const title = `${framework}: CPU for one request, without sockets`
  const cpu = measurementOf(costs, { title, unit: 'µs' }, (cost) => cost)
  const added: Measurement = {
    title: `${framework}: CPU that a limiter in memory adds to one request`,
    unit: 'µs',
    reference: AS_PEER,
    chart: `CPU added to one ${framework} request, in memory`,
    rows: addedTo(rowOf(cpu, 'bare'), cpu.rows),
  }
  return { measurements: [cpu, added], bars: addedBars(framework, added) }
}

function addedBars(framework: FrameworkName, added: Measurement): Bar[] {
  const ours = rowOf(added, AS_PEER)
  const peer = rowOf(added, PEERS[framework])
  const claim = `what it adds to a ${framework} request, in memory`
  return [
    goal(added, ours, 1, peer, claim),
    goal(added, ours, 1.3, rowOf(added, FLOOR_OF_PEER)),
    floor(added, rowOf(added, FLOOR_OF_PEER), peer),
    goal(added, rowOf(added, 'sluice'), 1.3, rowOf(added, FLOOR_OF_DEFAULTS)),
  ]
}
