import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableLines } from '@sluice/terminal/printable'
import { messageOf } from '@sluice/terminal/say'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import { createColors } from 'picocolors'
import { migrateText, PEERS } from './migrate-text.ts'
import { SourceSyntaxError } from './parse.ts'
import { FileError, readSource, writeSource } from './source-file.ts'

/** What was typed. */
export interface MigrateFlags {
  readonly write?: boolean
}

/**
 * Prints what would change, or writes it. A file that fails does not stop the others.
 *
 * @returns 1 if a file could not be read, parsed or written
 */
export function migrateCommand(
  files: readonly string[],
  { write = false }: MigrateFlags,
  io: Io,
): ExitCode {
  const say = (line: string) => io.stderr.write(`${printableLines(line)}\n`)
  const peers = new Set<string>()
  let code: ExitCode = EXIT.ok
  for (const file of withoutRepeats(files)) {
    try {
      for (const peer of migrateFile(file, write, io, say)) peers.add(peer)
    } catch (error) {
      code = EXIT.failed
      say(
        `sluice-migrate: ${error instanceof FileError ? error.message : `${file}: ${messageOf(error)}`}`,
      )
    }
  }
  if (peers.size > 0) say(nextSteps(peers, write))
  return code
}

/** @returns the packages that the file used. @throws FileError */
function migrateFile(
  file: string,
  write: boolean,
  io: Io,
  say: (line: string) => void,
): readonly string[] {
  const before = readSource(file)
  const { text, peers } = migrated(before, file)
  if (peers.length === 0) {
    say(`${file}: uses none of ${PEERS.map(({ name }) => name).join(', ')}`)
    return peers
  }
  if (text === before) {
    say(`${file}: nothing to change; its comments say what is left of ${peers.join(', ')}`)
    return []
  }
  if (write) {
    writeSource(file, before, text)
    say(`${file}: written`)
  } else io.stdout.write(diffOf(file, before, text, io.stdout.isTTY === true))
  return peers
}

function migrated(text: string, file: string) {
  try {
    return migrateText(text, file)
  } catch (error) {
    if (!(error instanceof SourceSyntaxError)) throw error
    const { line, column, message } = error
    throw new FileError(`${file}:${line}:${column}: expected JavaScript or TypeScript. ${message}`)
  }
}

/**
 * The change of a file as `git apply` and `patch -p1` read it.
 * @param isTerminal whether to use colours, and nothing that a terminal obeys
 */
function diffOf(file: string, before: string, after: string, isTerminal: boolean): string {
  const name = relative('.', file).replaceAll('\\', '/')
  const patch = formatPatch(
    structuredPatch(`a/${name}`, `b/${name}`, before, after),
    FILE_HEADERS_ONLY,
  )
  if (!isTerminal) return patch
  const { green, red, cyan } = createColors(true)
  const colour: Readonly<Record<string, (text: string) => string>> = {
    '+': green,
    '-': red,
    '@': cyan,
  }
  return patch
    .split(/\r?\n/)
    .map((line) => line.split('\t').map(printable).join('\t'))
    .map((line) => colour[line.charAt(0)]?.(line) ?? line)
    .join('\n')
}

function nextSteps(names: ReadonlySet<string>, isWritten: boolean): string {
  const peers = PEERS.filter(({ name }) => names.has(name))
  const install = `npm install ${peers.map(({ sluice }) => sluice).join(' ')}`
  const uninstall = `npm uninstall ${peers.map(({ name }) => name).join(' ')}`
  const write = isWritten ? '' : '--write writes the files. '
  return `${write}Read the comments that begin with "sluice:". Then: ${install}. When no file uses it any more: ${uninstall}.`
}

/** A file that was named twice is read once. */
function withoutRepeats(files: readonly string[]): string[] {
  const seen = new Map<string, string>()
  for (const file of files) {
    let path = file
    try {
      path = realpathSync(file)
    } catch {
      // Reading it says why.
    }
    if (!seen.has(path)) seen.set(path, file)
  }
  return [...seen.values()]
}
