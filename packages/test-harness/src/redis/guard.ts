import { spawn } from 'node:child_process'
import { once } from 'node:events'

// `read` fails when the pipe closes without a line, which is what the parent's death does to it.
const SCRIPT = 'read -r _ || { kill -9 "$1"; shift; rm -rf "$@"; }'

/**
 * Kills the process `pid` and removes these paths when this process ends without having done so,
 * however it ends: SIGKILL too. A shell waits on a pipe that only this process holds open.
 *
 * @returns The disarming function, for when `pid` is gone; it resolves when the shell is gone too.
 */
export function dieWithParent(pid: number, paths: readonly string[]): () => Promise<void> {
  // Detached: a signal to the whole process group, such as Ctrl+C, must not end the guard first.
  const guard = spawn('/bin/sh', ['-c', SCRIPT, 'redis-guard', String(pid), ...paths], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const ended = once(guard, 'exit')
  ended.catch(() => {})
  guard.stdin.on('error', () => {})
  guard.unref()

  return async () => {
    guard.ref()
    guard.stdin.end('\n')
    await ended
  }
}
