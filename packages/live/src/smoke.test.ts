import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import {
  isOpenToOthers,
  type Program,
  startExample,
  withinWindow,
} from '@sluice/test-harness/examples'
import { useRedis } from '@sluice/test-harness/jest'
import { until } from '@sluice/test-harness/redis'
import { LIMIT, WINDOW_MS } from './limits.ts'

const root = join(__dirname, '../../..')

const redis = useRedis()

test('it says where the page is, serves it, and shows requests admitted and refused', async () => {
  await withServer({}, 'stopped', async ({ url, output }) => {
    expect(output()).toContain(`Open ${url} in a browser`)
    expect(output()).toContain('counted in this process')
    expect(output()).not.toContain('Warning')
    expect(output().match(/^request \d+: 200 {2}RateLimit: "default";r=/gm)).toHaveLength(LIMIT)
    expect(output().match(/^request \d+: 429 .*Retry-After: \d+$/gm)).toHaveLength(2)

    const page = await (await fetch(url)).text()
    for (const [, path] of page.matchAll(/(?:src|href)="(.*?)"/g)) {
      const { status, headers } = await fetch(url + path)
      expect([path, status]).toEqual([path, 200])
      expect(headers.get('content-type')).toMatch(/javascript|css|svg/)
    }
  })
})

test('with REDIS_URL it counts there', async () => {
  const shown = await withinWindow(WINDOW_MS, async () => {
    await redis.server.command('FLUSHALL')
    return withServer({ REDIS_URL: redis.server.url }, 'running', async ({ url, output }) => {
      const { now } = (await (await fetch(`${url}/clock`)).json()) as { now: number }
      expect(Math.abs(now - Date.now())).toBeLessThan(60_000)
      return output()
    })
  })
  expect(shown).toContain('counted in Redis')
  expect(shown.match(/^request \d+: 429/gm)).toHaveLength(2)
  expect(await redis.server.command('KEYS', 'sluice:{[^#]*')).toHaveLength(1)
})

test('npm start listens on loopback, unless HOST says otherwise', async () => {
  const open = async (env: Record<string, string>) => {
    const { url, stop } = await startExample(__dirname, env)
    return isOpenToOthers(url).finally(stop)
  }
  expect(await open({})).toBe(false)
  expect(await open({ HOST: '0.0.0.0' })).toBe(true)
})

test('npm start says in one line that the port is taken', async () => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, resolve))
  const { port } = holder.address() as { port: number }
  const { code, output } = await start(`${port}`)
  await new Promise((resolve) => holder.close(resolve))
  expect(code).toBe(1)
  expect(output.split('\n').slice(-2)).toEqual([
    `Port ${port} is taken. Choose another one:  PORT=${port + 1} npm start`,
    '',
  ])
})

test('npm start says in one line that the port is no port', async () => {
  const { code, output } = await start('abc')
  expect(code).toBe(1)
  expect(output.split('\n').slice(-2)).toEqual([
    'PORT must be a number from 0 to 65535, not "abc". Choose another one:  PORT=3000 npm start',
    '',
  ])
})

/** Runs what npm start runs to its end. */
function start(port: string): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, PORT: port }
    execFile(process.execPath, ['scripts/start.mjs'], { cwd: root, env }, (error, out, err) => {
      resolve({ code: error?.code ?? 0, output: out + err })
    })
  })
}

async function withServer<T>(
  env: Record<string, string>,
  clock: 'running' | 'stopped',
  use: (server: Program) => Promise<T>,
): Promise<T> {
  const server = await startExample(__dirname, env, clock)
  try {
    await until(() => server.output().includes('Try it yourself'), {
      what: 'the end of the demonstration',
    })
    return await use(server)
  } finally {
    await server.stop()
  }
}
