const told = new Set<string>()

/**
 * Tells the application's operator once in a process, by Node's own warnings, of something that
 * limits otherwise than was meant.
 *
 * @param code stable, `SLUICE_…`
 * @param message what happens and how to mend it
 */
export function warnOnce(code: string, message: string): void {
  if (told.has(code)) return
  told.add(code)
  process.emitWarning(message, { type: 'SluiceWarning', code })
}
