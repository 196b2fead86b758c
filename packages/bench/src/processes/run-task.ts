import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundled, home, type Script } from './bundle.ts'

const published = pathToFileURL(join(home, 'src/processes/published.mjs')).href

/** Starts a bundled script in a process of its own, with our packages as they are published. */
export function start(script: Script, task: unknown, flags: readonly string[] = []) {
  return fork(bundled(script), [JSON.stringify(task)], {
    cwd: home,
    execArgv: ['--import', published, ...flags],
    env: { ...process.env, NODE_ENV: 'production' },
  })
}

/**
 * Runs a bundled script (see `defineTask`) to its end.
 *
 * @param task anything that survives JSON
 * @param flags for Node
 */
export async function runTask<Result>(
  script: Script,
  task: unknown,
  flags: readonly string[] = [],
): Promise<Result> {
  const child = start(script, task, flags)
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${script} ended with ${signal ?? code}: ${JSON.stringify(task)}`)
  })
  const [result] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return result as Result
}
