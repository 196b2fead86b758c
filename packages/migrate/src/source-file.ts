import { accessSync, constants, lstatSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { sync as writeFileAtomic } from 'write-file-atomic'

/** A file that can't be read, parsed or written. The message begins with its name. */
export class FileError extends Error {
  override readonly name = 'FileError'
}

const ENDINGS = /\.[cm]?[jt]sx?$/i

/** @returns its text, with a byte order mark. @throws FileError */
export function readSource(path: string): string {
  if (!ENDINGS.test(path)) {
    throw new FileError(
      `${path}: expected a file of JavaScript or TypeScript: .js, .jsx, .mjs, .cjs, .ts, .tsx, .mts or .cts`,
    )
  }
  const bytes = attempt(path, () => readFileSync(path))
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new FileError(`${path}: expected text in UTF-8`)
  }
}

/** The dependencies in the package.json nearest to a file, by name; none if there is no file that can be read. */
export function dependenciesOf(path: string): Record<string, string> {
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    try {
      const { dependencies, devDependencies } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      )
      return { ...devDependencies, ...dependencies }
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
      if (!isMissing || folder === dirname(folder)) return {}
    }
  }
}

/**
 * Replaces the text of a file in one step, and keeps its mode and its owner.
 *
 * @param before the text as it was read
 * @throws FileError without having changed anything
 */
export function writeSource(path: string, before: string, text: string): void {
  const stats = attempt(path, () => lstatSync(path))
  if (stats.isSymbolicLink()) {
    throw new FileError(`${path}: this is a symbolic link; name the file that it leads to`)
  }
  if (stats.nlink > 1) {
    throw new FileError(
      `${path}: the file has other names (hard links), which would keep the old text`,
    )
  }
  attempt(path, () => accessSync(path, constants.W_OK))
  if (readSource(path) !== before)
    throw new FileError(`${path}: the file changed while it was read`)
  attempt(path, () => writeFileAtomic(path, text))
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'this is a directory; name its files',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
}

function attempt<T>(path: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    throw new FileError(`${path}: ${REASONS[code] ?? message}`)
  }
}
