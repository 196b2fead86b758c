/**
 * The whole of a file that `runTask` starts in a process of its own: it gets its task, sends its
 * result, and ends.
 */
export function defineTask<Task, Result>(run: (task: Task) => Result | Promise<Result>): void {
  process.once('disconnect', () => process.exit(1))
  const main = async () => {
    const result = await run(JSON.parse(process.argv[2] as string))
    process.send?.(result, () => process.exit(0))
  }
  main().catch((error) => {
    console.error(error)
    process.exit(1)
  })
}
