import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import type { Io } from '@sluice/terminal/io'
import { printable, printableLines } from '@sluice/terminal/printable'
import { messageOf } from '@sluice/terminal/say'
import { count } from '@sluice/terminal/words'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import { createColors } from 'picocolors'
import { type Migration, migrateFiles, PEERS } from './migrate-text.ts'
import { type Parsed, parseFile, SourceSyntaxError } from './parse.ts'
import { dependenciesOf, FileError, readSource, writeSource } from './source-file.ts'

/** The flags as they were typed. */
export interface MigrateFlags {
  readonly write?: boolean
}

/**
 * Prints what would change, or writes it. A file that fails does not stop the others.
 *
 * @returns 1 if a file could not be read, parsed or written
 */
export function migrateCommand(
  names: readonly string[],
  { write = false }: MigrateFlags,
  io: Io,
): ExitCode {
  const say = (line: string) => io.stderr.write(`${printableLines(line)}\n`)
  let code: ExitCode = EXIT.ok
  const attempt = <T>(name: string, action: () => T): T | undefined => {
    try {
      return action()
    } catch (error) {
      code = EXIT.failed
      const message = error instanceof FileError ? error.message : `${name}: ${messageOf(error)}`
      say(`sluice-migrate: ${message}`)
      return undefined
    }
  }
  const files = withoutRepeats(names).flatMap((name) => attempt(name, () => read(name)) ?? [])
  const migrations = migrateFiles(files)
  const results = files.map(({ name, text }, i) => ({
    name,
    before: text,
    migration: migrations[i] as Migration,
  }))
  for (const result of results) attempt(result.name, () => finish(result, write, io, say))
  const changed = results.filter(isChanged)
  if (changed.length > 0) say(nextSteps(changed, write))
  const tally = tallyOf(results)
  if (tally !== undefined) say(tally)
  return code
}

interface Result {
  readonly name: string
  readonly before: string
  readonly migration: Migration
}

/** @throws FileError if it can't be read or parsed */
function read(name: string): Parsed {
  const text = readSource(name)
  try {
    return parseFile(text, name, dependenciesOf(name))
  } catch (error) {
    if (!(error instanceof SourceSyntaxError)) throw error
    const { line, column, message } = error
    throw new FileError(`${name}:${line}:${column}: expected JavaScript or TypeScript. ${message}`)
  }
}

function isChanged({ before, migration }: Result): boolean {
  return migration.text !== before
}

/** @throws FileError */
function finish(result: Result, write: boolean, io: Io, say: (line: string) => void): void {
  const { name, before, migration } = result
  const { text, peers, left } = migration
  if (peers.length === 0) {
    say(`${name}: uses none of ${PEERS.map((peer) => peer.name).join(', ')}`)
    return
  }
  for (const { line, reason } of left) say(`${name}:${line}: stays as it is. ${reason}`)
  if (!isChanged(result)) {
    say(`${name}: nothing to change; its comments say what is left of ${peers.join(', ')}`)
  } else if (write) {
    writeSource(name, before, text)
    say(`${name}: written`)
  } else io.stdout.write(diffOf(name, before, text, io.stdout.isTTY === true))
}

/** How many calls are rewritten, and how many are not; undefined: there are none. */
function tallyOf(results: readonly Result[]): string | undefined {
  const sum = (of: (migration: Migration) => number) =>
    results.reduce((total, { migration }) => total + of(migration), 0)
  const [rewritten, left] = [sum((each) => each.rewritten), sum((each) => each.left.length)]
  if (rewritten + left === 0) return undefined
  return `${count(rewritten, 'call')} rewritten, ${count(left, 'call')} unchanged.`
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

function nextSteps(results: readonly Result[], isWritten: boolean): string {
  const peers = PEERS.filter(({ name, sluice = name }) =>
    results.some(
      ({ before, migration: { text, peers } }) =>
        peers.includes(name) && text.includes(sluice) && !before.includes(sluice),
    ),
  )
  const write = isWritten ? '' : '--write writes the files. '
  const read = `${write}Read the comments that begin with "sluice:".`
  if (peers.length === 0) return read
  const packages = new Set(peers.map(({ sluice }) => sluice))
  const install = `npm install ${[...packages].join(' ')}`
  const uninstall = `npm uninstall ${peers.map(({ name }) => name).join(' ')}`
  return `${read} Then: ${install}. When no file uses it any more: ${uninstall}.`
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
