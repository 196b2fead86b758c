import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { cpuMicrosOf } from '../postgres/processes.ts'
import { dieWithParent } from '../redis/guard.ts'

/** A server that speaks as DynamoDB does, of the test's own. It dies with the test process, however that ends. */
export interface DynamodbServer {
  /** The address for clients. */
  readonly url: string
  /** How often each operation was called since the last time, as `PutItem`. */
  counts(): Promise<Readonly<Record<string, number>>>
  /** Makes writes of keys that contain this text fail with an error of this name, until it is called without. */
  fail(text?: string, error?: string): Promise<void>
  /** Freezes it: its sockets stay open and nothing answers. */
  pause(): void
  resume(): void
  /** CPU time of its process so far, by its id, µs. Needs Linux. */
  cpuMicros(): ReadonlyMap<number, number>
  stop(): Promise<void>
}

/**
 * Starts dynalite on a free loopback port, with what it lacks: `serve.mjs`. Its tables are in memory. What
 * `$DYNAMODB_ENDPOINT` names is used instead; it can neither fail nor be paused.
 */
export async function startDynamodb(): Promise<DynamodbServer> {
  const other = process.env.DYNAMODB_ENDPOINT
  if (other !== undefined) return otherServer(other)
  const script = join(import.meta.dirname, 'serve.mjs')
  const child: ChildProcess = spawn(process.execPath, [script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const pid = child.pid as number
  const disarm = dieWithParent(pid, [])
  child.unref()
  const [port] = await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  const url = `http://127.0.0.1:${String(port).trim()}`
  let before: Record<string, number> = {}
  const test = async (operation: string, body: object = {}) => {
    const headers = { 'x-amz-target': `Test.${operation}` }
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, number>
  }
  return {
    url,
    async counts() {
      const all = await test('Count')
      const more = Object.entries(all).map(
        ([name, count]) => [name, count - (before[name] ?? 0)] as const,
      )
      before = all
      return Object.fromEntries(
        more.filter(([name, count]) => count > 0 && !/Count|Fail/.test(name)),
      )
    },
    async fail(text, error) {
      await test('Fail', { text, error })
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    cpuMicros: () => new Map([[pid, cpuMicrosOf(pid)]]),
    async stop() {
      const ended = once(child, 'exit')
      child.ref()
      child.kill('SIGKILL')
      await ended
      await disarm()
    },
  }
}

function otherServer(url: string): DynamodbServer {
  const lacks = (): never => {
    throw new Error('only a server of the test can do this')
  }
  const rest = { fail: lacks, pause: lacks, resume: lacks, cpuMicros: lacks, async stop() {} }
  return { url, counts: lacks, ...rest }
}
