#!/usr/bin/env node
import { argv, exit, stderr, stdout } from 'node:process'
import { SluiceError } from '@sluice/core'
import { CommanderError } from 'commander'
import { createProgram } from './command/program.ts'
import { replayCommand } from './command/replay-command.ts'
import { blockFor, changeCommand } from './operate/change-command.ts'
import { inspectCommand } from './operate/inspect-command.ts'
import { onStore, StoreFailure } from './operate/on-store.ts'
import { topCommand } from './operate/top-command.ts'
import { EXIT, type ExitCode } from './terminal/exit-code.ts'
import { messageOf, say } from './terminal/say.ts'
import { UsageError } from './terminal/usage-error.ts'

let code: ExitCode = EXIT.ok

// The reader has closed the pipe, as `head` does: the rest of the output is not needed.
const unread = new AbortController()
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (stream === stdout) unread.abort()
  })
}

// An asynchronous error in a user's function may quote the log too.
process.on('uncaughtException', (error) => {
  say(`sluice: ${messageOf(error)}`)
  exit(EXIT.failed)
})
// Where warnings are shown at all.
if (process.listenerCount('warning') > 0) {
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => say(`${name}: ${message}`))
}

/** The first of these signals ends the command in order, a second one ends the process. */
function interrupted(...signals: readonly NodeJS.Signals[]): AbortSignal {
  const interrupt = new AbortController()
  for (const signal of signals) process.once(signal, () => interrupt.abort())
  return interrupt.signal
}

const operate = async (...[run, flags]: Parameters<typeof onStore>) => {
  code = await onStore(run, flags)
}

const program = createProgram({
  replay: async (files, flags) => {
    code = await replayCommand(files, flags, interrupted('SIGINT'))
  },
  top: (flags) =>
    operate((store) => {
      const ending = AbortSignal.any([unread.signal, interrupted('SIGINT', 'SIGTERM')])
      return topCommand(flags, store, process, ending)
    }, flags),
  inspect: (key, flags) => operate((store) => inspectCommand(key, flags, store, process), flags),
  reset: (key, flags) =>
    operate((store) => changeCommand({ action: 'reset' }, key, flags, store, process), flags),
  block: (key, duration, flags) => {
    const change = blockFor(duration)
    return operate((store) => changeCommand(change, key, flags, store, process), flags)
  },
  unblock: (key, flags) =>
    operate((store) => changeCommand({ action: 'unblock' }, key, flags, store, process), flags),
  serve: (flags) =>
    operate(async (store) => {
      // Only where it is wanted: from the sources its script is bundled first.
      const { serveCommand } = await import('./operate/serve/serve-command.ts')
      return serveCommand(flags, store, process, interrupted('SIGINT', 'SIGTERM'))
    }, flags),
  migrate: async (files, flags) => {
    // The parser is large, and no other command needs it.
    const { migrateCommand } = await import('./migrate/migrate-command.ts')
    code = await migrateCommand(files, flags, process)
  },
})

try {
  await program.parseAsync(argv)
} catch (error) {
  code = codeOf(error)
  if (!(error instanceof CommanderError)) say(`sluice: ${messageOf(error)}`)
}
// A configuration file may have left something open.
stdout.write('', () => exit(code))

function codeOf(error: unknown): ExitCode {
  if (error instanceof StoreFailure) return EXIT.store
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  return error instanceof UsageError || error instanceof SluiceError ? EXIT.usage : EXIT.failed
}
