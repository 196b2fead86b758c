import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundle, startBundle } from '@sluice/test-harness/processes'
import { home, installed, scriptOf } from './install.ts'
import type { Contest } from './rounds.ts'

/**
 * Flags for a process that reads its heap before and after what it measures: the young generation
 * is so large that nothing is collected in between.
 */
export const NO_COLLECTIONS = [
  '--expose-gc',
  '--min-semi-space-size=256',
  '--max-semi-space-size=256',
]

/**
 * The flags of a process that idles between its measurements: after 8 s without much work, V8 collects
 * garbage to give memory back, and then more often until the heap has grown again.
 */
const KEEP_HEAP = ['--no-memory-reducer']

/** Starts a script in a process of its own. */
function start(script: string, task: unknown, flags: readonly string[] = []): ChildProcess {
  return fork(scriptOf(script), [JSON.stringify(task)], {
    cwd: installed,
    execArgv: [...flags],
    env: { ...process.env, NODE_ENV: 'production' },
  })
}

/**
 * Runs a script (see `defineTask`) to its end.
 *
 * @param task anything that survives JSON
 * @param flags Node's flags
 */
export function runTask<Result>(
  script: string,
  task: unknown,
  flags?: readonly string[],
): Promise<Result> {
  return nextMessage(start(script, task, flags))
}

/**
 * A contender whose process is that of a script (see `defineContender`).
 *
 * @param task anything that survives JSON
 */
export function contest<Sample>(contender: string, script: string, task: unknown): Contest<Sample> {
  return {
    contender,
    async start() {
      const child = start(script, task, KEEP_HEAP)
      const exited = once(child, 'exit')
      await nextMessage(child)
      return {
        measure() {
          const sample = nextMessage<Sample>(child)
          child.send('measure')
          return sample
        },
        async stop() {
          child.kill()
          await exited
        },
      }
    },
  }
}

/**
 * Does what `runTask` does, with our packages in the bundle, from the sources: for counts, which that leaves
 * alone.
 */
export async function runTaskFromSources<Result>(
  script: string,
  task: unknown,
  flags: readonly string[] = [],
): Promise<Result> {
  const code = await bundle(join(home, 'src', `${script}.script.ts`))
  return nextMessage(startBundle(code, { args: [JSON.stringify(task)], flags }))
}

/** The next message of a process, which must not end before. */
function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const failed = (code: number | null, signal: string | null) =>
      reject(new Error(`${child.spawnargs.join(' ')} ended with ${signal ?? code}`))
    child.once('exit', failed)
    child.once('message', (message) => {
      child.off('exit', failed)
      resolve(message as Message)
    })
  })
}
