/** A message from a worker to the process that started it. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'result'; readonly result: unknown }
  | { readonly type: 'error'; readonly stack: string }

/**
 * The whole of a worker file that `runInProcesses` starts.
 *
 * @param prepare Gets the arguments, and which of the workers it is, from 0; makes all ready: connects,
 *   warms up. What it returns is called when every worker is ready; its result must survive JSON.
 */
export function defineWorker<Args, Result>(
  prepare: (args: Args, number: number) => Promise<() => Result | Promise<Result>>,
): void {
  // The parent is gone: the result is not needed.
  process.once('disconnect', () => process.exit())
  const released = new Promise<void>((resolve) => {
    process.once('message', () => resolve())
  })
  const run = async () => {
    const work = await prepare(JSON.parse(process.argv[2]!) as Args, Number(process.argv[3]))
    send({ type: 'ready' })
    await released
    send({ type: 'result', result: await work() })
  }
  run().catch((error) => send({ type: 'error', stack: String(error?.stack ?? error) }))
}

function send(message: WorkerMessage): void {
  if (!process.send) throw new Error('a worker file is started by runInProcesses, not by itself')
  process.send(message)
}
