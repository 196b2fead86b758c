/**
 * The whole of a file that `runTask` starts in a process of its own: it gets its task, sends its
 * result, and ends.
 */
export function defineTask<Task, Result>(run: (task: Task) => Result | Promise<Result>): void {
  guarded(async () => {
    const result = await run(taskOf<Task>())
    process.send?.(result, () => process.exit(0))
  })
}

/**
 * The whole of a file that `contest` starts in a process of its own: it prepares what its
 * task names, and measures it once whenever it is asked.
 */
export function defineContender<Task, Sample>(
  prepare: (task: Task) => Promise<() => Promise<Sample>>,
): void {
  guarded(async () => {
    const measure = await prepare(taskOf<Task>())
    process.on('message', () => guarded(async () => process.send?.(await measure())))
    process.send?.('ready')
  })
}

function taskOf<Task>(): Task {
  return JSON.parse(process.argv[2] as string)
}

function guarded(run: () => Promise<unknown>): void {
  run().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}

process.once('disconnect', () => process.exit(1))
