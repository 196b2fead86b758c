import { startRedis } from '@sluice/test-harness/redis'
import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import type { Plan } from '../plan.ts'
import type { Findings } from '../report/results.ts'
import { measureCosts } from './costs.ts'
import { measureHalfLoad } from './half-load.ts'

/** What a limiter adds to a request over HTTP, in each framework. */
export async function measureHttp(plan: Plan, log: (line: string) => void): Promise<Findings> {
  const redis = await startRedis()
  const findings: Findings[] = []
  try {
    for (const framework of Object.keys(frameworks) as FrameworkName[]) {
      const { perSecond, ...costs } = await measureCosts(framework, redis, plan, log)
      findings.push(costs, await measureHalfLoad(framework, perSecond / 2, redis, plan, log))
    }
  } finally {
    await redis.stop()
  }
  return {
    measurements: findings.flatMap(({ measurements }) => measurements),
    bars: findings.flatMap(({ bars }) => bars),
  }
}
