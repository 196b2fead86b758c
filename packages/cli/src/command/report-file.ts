import { accessSync, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '@sluice/terminal/usage-error'

/** Only a report begins with this text. */
const BEGINNINGS = {
  '--json': /^\{\n {2}"schema": \d+,\n {2}"source": \{\n/,
  '--html': /^<!doctype html>\n.*<meta name="generator" content="sluice replay">/s,
} as const
/** How many bytes of a file show whether it is a report. */
const BEGINNING = 4096
const STDIN = 0

/**
 * Refuses to write a report over anything else, such as a log, which `--json *.json` would name.
 * @param inputs files that are read; `-` is standard input
 * @throws UsageError where the file can't be made, has another ending, is an input by whatever name, or exists and
 * is no report
 */
export function checkReportFile(
  flag: keyof typeof BEGINNINGS,
  path: string,
  inputs: readonly string[],
): void {
  const ending = flag.replace('--', '.')
  if (!path.endsWith(ending)) {
    const aside = flag === '--json' ? '. For standard output, put --json at the end' : ''
    throw new UsageError(
      `${flag}: expected a name that ends with ${ending}, received '${path}'${aside}`,
    )
  }
  const folder = dirname(path)
  if (!isFolder(folder))
    throw new UsageError(`${flag}: can't write ${path}: there is no folder ${folder}`)
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (!isWritable(stats === undefined ? folder : path))
    throw new UsageError(`${flag}: can't write ${path}: permission denied`)
  if (stats === undefined) return
  if (inputs.some((input) => isSame(stats, input))) {
    throw new UsageError(`${flag}: ${path} is an input, which the report would overwrite`)
  }
  if (stats.isFile() && (stats.size === 0n || BEGINNINGS[flag].test(beginningOf(path)))) return
  throw new UsageError(
    `${flag}: ${path} exists and is no report of sluice replay. Choose another name, or remove it`,
  )
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function isSame({ dev, ino }: { dev: bigint; ino: bigint }, input: string): boolean {
  const other =
    input === '-'
      ? fstatSync(STDIN, { bigint: true })
      : statSync(input, { bigint: true, throwIfNoEntry: false })
  return other?.dev === dev && other.ino === ino
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(BEGINNING)
    return bytes.toString('utf8', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}
