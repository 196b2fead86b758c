#!/usr/bin/env node
import { argv, exit, stderr, stdout } from 'node:process'
import { SluiceError } from '@sluice/core'
import { CommanderError } from 'commander'
import { EXIT, type ExitCode } from './command/exit-code.ts'
import { createProgram } from './command/program.ts'
import { replayCommand } from './command/replay-command.ts'
import { messageOf, say } from './command/say.ts'
import { UsageError } from './command/usage-error.ts'

let code: ExitCode = EXIT.ok

// The reader has closed the pipe, as `head` does: the rest of the output is not needed.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
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

const program = createProgram(async (files, flags) => {
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort())
  code = await replayCommand(files, flags, interrupt.signal)
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
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  return error instanceof UsageError || error instanceof SluiceError ? EXIT.usage : EXIT.failed
}
