import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import type { Ids } from '../postgres/unprivileged.ts'
import { dieWithParent } from '../redis/guard.ts'
import { until } from '../redis/until.ts'

const LOG_CHARACTERS = 8_000

/** One run of a server. It dies with the test process, however that ends. */
export interface OwnProcess {
  readonly pid: number
  /** Resolves when nothing of it is left. */
  end(): Promise<void>
  isRunning(): boolean
  /** Does nothing once the process has ended. */
  signal(name: NodeJS.Signals): void
  /** Ends it with SIGKILL, as a crash would. */
  kill(): Promise<void>
  /** The end of what it has printed. */
  log(): string
}

export interface OwnProcessOptions {
  /** Its folder, which is removed if this process ends first. */
  readonly folder: string
  readonly env?: NodeJS.ProcessEnv
  /** Whom it runs as. Default: as this process. */
  readonly ids?: Ids | undefined
  /** What else it leaves behind. */
  readonly leftovers?: (pid: number) => readonly string[]
}

/** @throws Error if it can't be run */
export function startOwn(
  path: string,
  args: readonly string[],
  { folder, env, ids, leftovers: leftoversOf = () => [] }: OwnProcessOptions,
): OwnProcess {
  const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe']
  const child = spawn(path, args, { cwd: folder, stdio, env: { ...process.env, ...env }, ...ids })
  child.on('error', () => {})
  const { pid } = child
  if (pid === undefined) throw new Error(`${path} could not be run`)
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_CHARACTERS)
    })
  const leftovers = leftoversOf(pid)
  const disarm = dieWithParent(pid, [folder, ...leftovers])
  // 'close' comes when the output has been read to its end, so the log is whole.
  const ended = once(child, 'close').then(async () => {
    await disarm()
    await Promise.all(leftovers.map((each) => rm(each, { force: true })))
  })
  // A server that a failed test has left must not keep the test process from ending.
  const handles = [child, child.stdout as Socket, child.stderr as Socket]
  for (const handle of handles) handle.unref()
  const end = () => {
    for (const handle of handles) handle.ref()
    return ended
  }
  return {
    pid,
    end,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.kill(name),
    kill: () => {
      child.kill('SIGKILL')
      return end()
    },
    log: () => log,
  }
}

/**
 * Starts a process and waits until it is ready. If it never is, nothing of it is left.
 *
 * @returns ends it, and removes its folder
 */
export async function startReady(
  [path, ...args]: readonly [path: string, ...args: string[]],
  { folder, ids }: Pick<OwnProcessOptions, 'folder' | 'ids'>,
  what: string,
  isReady: (log: string) => unknown,
): Promise<() => Promise<void>> {
  const child = startOwn(path, args, { folder, ids })
  const stop = async () => {
    await child.kill()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await untilReady(child, what, isReady)
    return stop
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Waits until a process is ready.
 *
 * @param what what it is, for the error
 * @throws Error with its log if it ends instead
 */
export function untilReady(
  own: OwnProcess,
  what: string,
  isReady: (log: string) => unknown,
): Promise<unknown> {
  const condition = async () => {
    if (own.isRunning()) return isReady(own.log())
    await own.end()
    throw new Error(`${what} ended at its start:\n${own.log()}`)
  }
  return until(condition, { what: `${what} is ready` })
}
