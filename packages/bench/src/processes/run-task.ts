import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundled, home, SCRIPTS, type Script } from './bundle.ts'

const published = pathToFileURL(join(home, 'src/processes/published.mjs')).href

/**
 * Flags for a process that reads its heap before and after what it measures: the young generation
 * is so large that nothing is collected in between.
 */
export const NO_COLLECTIONS = [
  '--expose-gc',
  '--min-semi-space-size=256',
  '--max-semi-space-size=256',
]

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
export function runTask<Result>(
  script: Script,
  task: unknown,
  flags?: readonly string[],
): Promise<Result> {
  return resultOf(start(script, task, flags))
}

/** The same from the sources, ours too, through a loader: for counts, which that leaves alone. */
export function runTaskFromSources<Result>(
  script: Script,
  task: unknown,
  flags: readonly string[] = [],
): Promise<Result> {
  const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const execArgv = ['--import', loader, ...flags]
  return resultOf(fork(join(home, SCRIPTS[script]), [JSON.stringify(task)], { execArgv }))
}

async function resultOf<Result>(child: ReturnType<typeof fork>): Promise<Result> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${child.spawnargs.join(' ')} ended with ${signal ?? code}`)
  })
  ended.catch(() => {})
  const [result] = await Promise.race([once(child, 'message'), ended])
  return result as Result
}
