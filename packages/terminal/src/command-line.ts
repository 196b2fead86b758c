import { readFileSync } from 'node:fs'
import { exit, stderr, stdout } from 'node:process'
import { Command, CommanderError } from 'commander'
import { EXIT, type ExitCode } from './exit-code.ts'
import type { Io } from './io.ts'
import { messageOf, say } from './say.ts'

/** A command line without commands, which never ends the process by itself. @param manifest its package.json */
export function commandLine(name: string, manifest: URL, io: Io): Command {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }
  return new Command(name)
    .version(version, '-V, --version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => say(text.trimEnd(), io.stderr),
    })
}

/**
 * Makes all that this process writes by itself safe for a terminal, and lets the reader of its output
 * close it, as `head` does.
 *
 * @returns aborted when nobody reads the output any more
 */
export function guardProcess(name: string): AbortSignal {
  const unread = new AbortController()
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === stdout) unread.abort()
    })
  }
  process.on('uncaughtException', (error) => {
    say(`${name}: ${messageOf(error)}`)
    exit(EXIT.failed)
  })
  // Node has no listener where warnings are turned off.
  if (process.listenerCount('warning') > 0) {
    process.removeAllListeners('warning')
    process.on('warning', ({ name: kind, message }) => say(`${kind}: ${message}`))
  }
  return unread.signal
}

/**
 * Runs what was typed.
 *
 * @param args the words behind the command's name
 * @param codeOf the exit code of an error that the command throws
 * @returns whether it was run; else the exit code
 */
export async function parseCommandLine(
  program: Command,
  args: readonly string[],
  { stderr }: Io,
  codeOf: (error: unknown) => ExitCode,
): Promise<ExitCode | undefined> {
  try {
    await program.parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    say(`${program.name()}: ${messageOf(error)}`, stderr)
    return codeOf(error)
  }
}

/** Ends the process when its output is written. */
export function endProcess(name: string, ended: ExitCode): void {
  // Something that a user's file has opened may still keep the process alive.
  stdout.write('', (error) => {
    const { code } = (error ?? {}) as NodeJS.ErrnoException
    if (!error || code === 'EPIPE') exit(ended)
    say(`${name}: the output is lost: ${messageOf(error)}`)
    exit(EXIT.failed)
  })
}
