import type { RedisServer } from '@sluice/test-harness/redis'
import { type FrameworkName, frameworks } from '../contenders/frameworks.ts'
import { AS_PEER } from '../contenders/http.ts'
import type { Plan } from '../plan.ts'
import { type Contest, runRounds } from '../processes/rounds.ts'
import { judge, least, samplesOf, times } from '../report/bar.ts'
import { type Bar, type Findings, isPeer, type Measurement, type Unit } from '../report/results.ts'
import { differences, median } from '../statistics/quartiles.ts'
import type { ServerTask } from './server.script.ts'
import { startServer } from './server.ts'
import { wrk } from './wrk.ts'

/** For one request. */
interface Cost {
  /** CPU of the server's process. */
  readonly cpuMicros: number
  /** CPU of Redis; 0 in memory. */
  readonly redisMicros: number
  readonly perSecond: number
}

type Named = [name: string, ServerTask]

const OURS_IN_MEMORY = 'sluice, memory'
const OURS_ON_REDIS = 'sluice, Redis'

/** Which peer ours is held against in memory, and how much of what it adds ours may add. */
const IN_MEMORY: { readonly [framework in FrameworkName]: readonly [string, number, string] } = {
  Express: ['express-rate-limit', 1 / 6, 'a sixth'],
  Fastify: ['@fastify/rate-limit', 1 / 3, 'a third'],
  Koa: ['koa-ratelimit', 1 / 3, 'a third'],
}

/** The bare server and each limiter on each store; `perSecond`: what ours serves on Redis. */
export async function measureCosts(
  framework: FrameworkName,
  redis: RedisServer,
  plan: Plan,
  log: (line: string) => void,
): Promise<Findings & { perSecond: number }> {
  const rounds = framework === 'Express' ? plan.expressRounds : plan.rounds
  const costs = await runRounds(contests(framework, redis, plan), rounds, (line) =>
    log(`http, ${framework}: ${line}`),
  )
  const figure = (title: string, unit: Unit, of: keyof Cost): Measurement => ({
    title: `${framework}: ${title}`,
    unit,
    rows: [...costs].map(([contender, samples]) => {
      return { contender, samples: samples.map((cost) => cost[of]) }
    }),
  })
  const cpu = figure('CPU of the server for one request', 'µs', 'cpuMicros')
  const redisCpu = figure('CPU of Redis for one request', 'µs', 'redisMicros')
  const inMemory = added(framework, cpu, 'memory')
  const onRedis = added(framework, cpu, 'Redis')
  const served = figure('requests served', 'per second', 'perSecond')
  return {
    measurements: [
      cpu,
      inMemory,
      onRedis,
      { ...redisCpu, reference: OURS_ON_REDIS, rows: redisCpu.rows.filter(isOnRedis) },
      served,
    ],
    bars: [memoryBar(framework, inMemory), redisBar(framework, onRedis)],
    perSecond: median(samplesOf(served.rows, OURS_ON_REDIS)),
  }
}

function isOnRedis({ contender }: { readonly contender: string }): boolean {
  return contender.endsWith(', Redis')
}

function contests(framework: FrameworkName, redis: RedisServer, plan: Plan): Contest<Cost>[] {
  const limiters = Object.keys(frameworks[framework]).filter((name) => name !== 'bare')
  const tasks: Named[] = [
    ['bare', { framework, contender: 'bare' }],
    ...limiters.map((name): Named => [`${name}, memory`, { framework, contender: name }]),
    ...limiters
      .filter((name) => name !== AS_PEER)
      .map((name): Named => [`${name}, Redis`, { framework, contender: name, url: redis.url }]),
  ]
  return tasks.map(([contender, task]) => {
    return { contender, measure: () => measureCost(task, redis, plan) }
  })
}

async function measureCost(task: ServerTask, redis: RedisServer, plan: Plan): Promise<Cost> {
  await redis.command('FLUSHALL')
  const server = await startServer(task)
  try {
    await wrk(server.url, plan.httpWarmUpSeconds)
    const before = await server.cpuMicros()
    const redisBefore = await redis.cpuMicros()
    const { requests, seconds } = await wrk(server.url, plan.httpSeconds)
    const redisMicros = (await redis.cpuMicros()) - redisBefore
    return {
      cpuMicros: ((await server.cpuMicros()) - before) / requests,
      redisMicros: task.url === undefined ? 0 : redisMicros / requests,
      perSecond: requests / seconds,
    }
  } finally {
    await server.stop()
  }
}

/** Against the bare server of the same round. */
function added(framework: FrameworkName, cpu: Measurement, store: 'memory' | 'Redis'): Measurement {
  const bare = samplesOf(cpu.rows, 'bare')
  return {
    title: `${framework}: CPU of the server that a limiter adds to one request, ${store}`,
    unit: 'µs',
    chart: `CPU added to one ${framework} request, ${store}`,
    reference: store === 'memory' ? OURS_IN_MEMORY : OURS_ON_REDIS,
    rows: cpu.rows
      .filter(({ contender }) => contender.endsWith(`, ${store}`))
      .map(({ contender, samples }) => ({ contender, samples: differences(samples, bare) })),
  }
}

function memoryBar(framework: FrameworkName, { title, unit, rows }: Measurement): Bar {
  const [peer, share, words] = IN_MEMORY[framework]
  return judge({
    work: title,
    bar: `at most ${words} of what ${peer} adds`,
    unit,
    ours: samplesOf(rows, OURS_IN_MEMORY),
    allowed: times(share, samplesOf(rows, `${peer}, memory`)),
  })
}

function redisBar(framework: FrameworkName, { title, unit, rows }: Measurement): Bar {
  const peer = least(rows.filter(isPeer))
  return judge({
    work: title,
    bar: `at most a third of what the best peer of ${framework} adds, ${peer.contender}`,
    unit,
    ours: samplesOf(rows, OURS_ON_REDIS),
    allowed: times(1 / 3, peer.samples),
  })
}
