import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { redisBinary } from './binary.ts'

/** How long a start may take, ms: far beyond what it does take. */
const WITHIN_MS = 30_000

export interface TriedStart {
  readonly pid: number
  /** The signal by which the server has ended, if not by itself. */
  readonly signal: NodeJS.Signals | null
  readonly log: string
}

/**
 * Starts the server to see what its build can do. It blocks for some 20 ms: what Jest skips must be
 * known before the tests run.
 *
 * @param args With which the server ends at once, beyond its having no port.
 * @throws Error when the server can't be run, or does not end within 30 s.
 */
export function tryStart(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  binary: string = redisBinary(),
): TriedStart {
  const { error, pid, signal, stdout, stderr } = spawnSync(binary, ['--port', '0', ...args], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: WITHIN_MS,
    killSignal: 'SIGKILL',
  })
  if (error) throw error
  return { pid, signal, log: stdout + stderr }
}
