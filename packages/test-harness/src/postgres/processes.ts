import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Ids } from './unprivileged.ts'

/** A process and those that it has started, by their ids: each connection of PostgreSQL is one. */
export function familyOf(pid: number): number[] {
  const children = readdirSync('/proc').filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === pid,
  )
  return [pid, ...children.map(Number)]
}

function parentOf(pid: string): number | undefined {
  try {
    // After the name in parentheses, which may have spaces: the state and the parent.
    const [, parent] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(
      ' ',
    )
    return Number(parent)
  } catch {
    return undefined
  }
}

/** CPU time of a process so far; 0 if it has ended. */
export function cpuMicrosOf(pid: number): number {
  try {
    // The first number is ns; `stat` counts in steps of 10 ms.
    return Number.parseInt(readFileSync(`/proc/${pid}/schedstat`, 'utf8'), 10) / 1000
  } catch {
    return 0
  }
}

/** Does nothing to those that have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {}
  }
}

/**
 * Sets how large files may become that they write. The first must be there, and the others may have
 * ended: what it starts from now on has the same limit.
 *
 * @param ids whom they run as: nobody else may do it
 */
export async function limitFilesOf(
  [first, ...others]: readonly number[],
  bytes: number | 'unlimited',
  ids: Ids | undefined,
): Promise<void> {
  // The soft limit alone, which may be raised again.
  const limit = (pid: number | undefined) =>
    promisify(execFile)('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:`], { ...ids })
  await limit(first)
  await Promise.allSettled(others.map(limit))
}
