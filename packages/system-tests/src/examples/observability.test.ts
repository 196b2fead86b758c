import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { isOpenToOthers, type Program, startExample } from '@sluice/test-harness/examples'
import { describeUnless } from '@sluice/test-harness/jest'
import {
  type Prometheus,
  promtoolBinary,
  startPrometheus,
  whyNoPrometheus,
} from '@sluice/test-harness/prometheus'
import { type RedisServer, startRedis, until } from '@sluice/test-harness/redis'
import { folderOf } from './folder-of.ts'

const folder = folderOf('observability')

const docs = join(folder, '../../docs')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

const dashboard = JSON.parse(read(docs, 'grafana/sluice.json')) as {
  panels: { title: string; targets: { expr: string }[] }[]
}
const queries = dashboard.panels.flatMap(({ title, targets }) =>
  targets.map(({ expr }) => [title, expr] as const),
)
/** Panels about failures, which the example has only once Redis is killed. */
const OF_FAILURES = ['Decisions without the store', 'Decisions during failures, by error']
/** Panels of a load shedder, which the example does not have. */
const OF_OVERLOAD = ['Load shed, by class', 'Places of shedLoad']

const alerts = read(docs, 'prometheus/alerts.yml')
/** What it takes for seconds to be enough: times of a minute and more become a few seconds. */
const hasty = (rules: string) =>
  rules.replace(/for: \d+[sm]/g, 'for: 1s').replace(/\[\d+m\]/g, '[5s]')
const filled = (expression: string) =>
  expression.replaceAll('$__rate_interval', '5s').replaceAll('$job', '.+')

describeUnless(whyNoPrometheus(), 'watched by Prometheus', () => {
  let redis: RedisServer
  let example: Program
  let prometheus: Prometheus
  let traffic: NodeJS.Timeout

  beforeAll(async () => {
    redis = await startRedis()
    example = await startExample(folder, { REDIS_URL: redis.url })
    const config = read(folder, 'prometheus.yml')
      .replaceAll('15s', '250ms')
      .replace('alerts.yml', 'rules.yml')
      .replace('localhost:3000', new URL(example.url).host)
    prometheus = await startPrometheus(config, hasty(alerts))
    // Three searches of one client at the same time: one of them waits, and one is refused.
    const get = (path: string) => fetch(`${example.url}${path}`).catch(() => {})
    traffic = setInterval(() => {
      for (const path of ['/search', '/search', '/search', '/complete']) void get(path)
    }, 250)
  })
  afterAll(async () => {
    clearInterval(traffic)
    await prometheus?.stop()
    await example?.stop()
    await redis?.stop()
  })

  /** The values that it gives, once it gives any. */
  const answers = async (expression: string): Promise<number[]> => {
    const found = await until(
      async () => {
        const values = (await prometheus.query(filled(expression))).map(({ value }) => value)
        return values.some(Number.isFinite) ? values : undefined
      },
      { everyMs: 100, what: `Prometheus answers ${expression}` },
    )
    return found as number[]
  }

  test.each(queries.filter(([title]) => ![...OF_FAILURES, ...OF_OVERLOAD].includes(title)))(
    'the dashboard has data: %s, %s',
    async (_, expression) => {
      await answers(expression)
    },
  )

  test('a limiter has one time series for each policy, result and source', async () => {
    const [series] = await answers('count(rate_limiting_requests_total)')
    expect(series).toBeLessThan(20)
  })

  test('when Redis is killed, the alerts fire, and the dashboard says why', async () => {
    const firing = async () =>
      (await prometheus.alerts())
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => labels.alertname)
    const wanted = ['SluiceStoreUnavailable', 'SluiceDecidesWithoutStore']
    expect(await firing()).not.toEqual(expect.arrayContaining([wanted[0]]))
    await redis.stop()
    await until(
      async () => {
        const names = await firing()
        return wanted.every((name) => names.includes(name))
      },
      { everyMs: 100, what: 'the alerts fire' },
    )
    for (const [, expression] of queries.filter(([title]) => OF_FAILURES.includes(title)))
      await answers(expression)
    expect(await answers('rate_limiting_store_available')).toEqual([0])
    expect((await fetch(`${example.url}/metrics`)).status).toBe(200)
  })

  test('it listens on loopback', async () => {
    expect(await isOpenToOthers(example.url)).toBe(false)
  })
})

describeUnless(whyNoPrometheus(), 'the alerts', () => {
  const promtool = (...args: string[]) =>
    promisify(execFile)(promtoolBinary(), args, { cwd: join(docs, 'prometheus') })

  test('are rules that promtool accepts, and fire after the times that they say', async () => {
    expect((await promtool('check', 'rules', 'alerts.yml')).stdout).toContain('SUCCESS')
    expect((await promtool('test', 'rules', 'alerts.test.yml')).stdout).toContain('SUCCESS')
  })

  test('each of them has a test, and a line in docs/operations.md', () => {
    const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string)
    expect(names.length).toBeGreaterThan(5)
    const tests = read(docs, 'prometheus/alerts.test.yml')
    const page = read(docs, 'operations.md')
    for (const name of names) {
      expect(tests).toContain(`alertname: ${name}`)
      expect(page).toContain(`\`${name}\``)
    }
  })
})
