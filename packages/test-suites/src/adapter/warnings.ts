/** Sluice's warnings so far. Most are emitted once per process, whatever the test. */
const warnings: { readonly code: string; readonly text: string }[] = []

/** How often the tests have emitted the warning with these words, since the first one began. */
export function warned(code: string, words = ''): number {
  return warnings.filter((each) => each.code === code && each.text.includes(words)).length
}

/** Runs a test: notes Sluice's warnings, and keeps them off the screen. */
export async function notingWarnings(run: () => Promise<void>): Promise<void> {
  const { emitWarning } = process
  const note = (text: string, options: object) => {
    const { code = '' } = (options ?? {}) as { code?: string }
    if (code.startsWith('SLUICE_')) warnings.push({ code, text })
    else emitWarning(text, options)
  }
  process.emitWarning = note as typeof emitWarning
  try {
    await run()
  } finally {
    process.emitWarning = emitWarning
  }
}
