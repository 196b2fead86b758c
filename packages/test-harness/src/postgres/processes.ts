import { readdirSync, readFileSync } from 'node:fs'

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

/** Does nothing to those that have ended. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch {}
  }
}
