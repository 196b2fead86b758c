import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundle, startBundle } from './bundle.ts'
import type { WorkerMessage } from './worker.ts'

export interface RunOptions {
  /** The longest that the whole run may take, in milliseconds. */
  readonly withinMs?: number
}

interface Worker {
  readonly ready: Promise<unknown>
  readonly result: Promise<unknown>
  release(): void
  stop(): Promise<void>
}

/**
 * Runs a worker file (see `defineWorker`) in `count` Node processes: waits until all are
 * ready, releases them together, and gives the result of each. No process is left, however it ends.
 *
 * @param script The worker's file, TypeScript or JavaScript.
 * @param args Anything that survives JSON; every worker gets the same, and its own number.
 * @throws What a worker threw, or how it ended before it gave its result.
 */
export async function runInProcesses<Result>(
  script: string | URL,
  count: number,
  args: unknown,
  { withinMs = 45_000 }: RunOptions = {},
): Promise<Result[]> {
  const path = typeof script === 'string' ? script : fileURLToPath(script)
  const code = await bundle(path)
  const workers = Array.from({ length: count }, (_, i) => startWorker(code, args, i))
  const ended = new AbortController()
  const late = delay(withinMs, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`${count} processes of ${path} did not finish within ${withinMs} ms`)
  })
  late.catch(() => {})
  try {
    return (await Promise.race([atOnce(workers), late])) as Result[]
  } finally {
    ended.abort()
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}

async function atOnce(workers: readonly Worker[]): Promise<unknown[]> {
  await Promise.all(workers.map((worker) => worker.ready))
  for (const worker of workers) worker.release()
  return Promise.all(workers.map((worker) => worker.result))
}

function startWorker(code: string, args: unknown, number: number): Worker {
  const child = startBundle(code, {
    args: [JSON.stringify(args ?? null), `${number}`],
    stderr: 'pipe',
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const closed = once(child, 'close')
  const answer = (type: 'ready' | 'result') => messageOf(child, type, () => stderr)
  const ready = answer('ready')
  const result = answer('result').then((message) => 'result' in message && message.result)
  for (const promise of [closed, ready, result]) promise.catch(() => {})
  return {
    ready,
    result,
    release: () => void child.send('go'),
    stop: async () => {
      child.kill('SIGKILL')
      await closed
    },
  }
}

function messageOf(
  child: ChildProcess,
  type: 'ready' | 'result',
  stderr: () => string,
): Promise<WorkerMessage> {
  return new Promise((resolve, reject) => {
    child.on('message', (message: WorkerMessage) => {
      if (message.type === type) resolve(message)
      if (message.type === 'error') reject(new Error(`in a worker: ${message.stack}`))
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      reject(new Error(`a worker ended (${signal ?? code}) before its ${type}:\n${stderr()}`))
    })
  })
}
