import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import { AS_PEER } from '../contenders/http.ts'
import type { Plan } from '../plan.ts'
import { runRounds } from '../processes/rounds.ts'
import { contest } from '../processes/run-task.ts'
import { addedTo, measurementOf, rowOf } from '../report/measurement.ts'
import type { Measurement } from '../report/results.ts'
import type { RequestsTask } from './requests.script.ts'

type Log = (line: string) => void

/** Measures the time that a limiter in memory adds to a request, in each framework, without a network. */
export async function measureHttp(plan: Plan, log: Log): Promise<Measurement[]> {
  const measurements: Measurement[] = []
  for (const framework of Object.keys(frameworks) as FrameworkName[])
    measurements.push(...(await measureFramework(framework, plan, log)))
  return measurements
}

async function measureFramework(
  framework: FrameworkName,
  plan: Plan,
  log: Log,
): Promise<Measurement[]> {
  const { warmUpMs, requestsMs: measuredMs } = plan
  const contests = Object.keys(frameworks[framework]).map((contender) => {
    const task: RequestsTask = { framework, contender, warmUpMs, measuredMs }
    return contest<number>(contender, 'http/requests', task)
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
  return [cpu, added]
}
