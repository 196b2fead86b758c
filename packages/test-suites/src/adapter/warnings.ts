/** The codes of Sluice's warnings so far. Each is emitted once per process, whatever the test. */
const codes: string[] = []

/** How often the tests have emitted the warning, since the first one began. */
export function warned(code: string): number {
  return codes.filter((each) => each === code).length
}

/** Runs a test: notes the codes of Sluice's warnings, and keeps them off the screen. */
export async function notingWarnings(run: () => Promise<void>): Promise<void> {
  const { emitWarning } = process
  const note = (warning: string, options: object) => {
    const { code = '' } = (options ?? {}) as { code?: string }
    if (code.startsWith('SLUICE_')) codes.push(code)
    else emitWarning(warning, options)
  }
  process.emitWarning = note as typeof emitWarning
  try {
    await run()
  } finally {
    process.emitWarning = emitWarning
  }
}
