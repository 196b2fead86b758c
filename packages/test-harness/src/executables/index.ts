import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Wanted {
  /** The variable by which it can be named. */
  readonly variable: string
  /** Its names on the PATH, best first. */
  readonly names: readonly string[]
  /** How to get it, with the commands. */
  readonly advice: string
}

/**
 * The path of a program that the tests run: as its variable says, else the first on the PATH.
 *
 * @throws Error with how to get it. Tests that need it fail without it; they are never skipped.
 */
export function findExecutable(
  { variable, names, advice }: Wanted,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const named = env[variable]
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`${variable} is ${named}, which is not an executable file`)
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean)
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  const path = found.find(isExecutable)
  if (path) return path
  throw new Error(
    `no ${names.join(' or ')} on the PATH: install one (${advice}), or set ${variable} to its path`,
  )
}

/** Why something can't be found, with how to get it; undefined: it can. */
export function whyNot(find: () => unknown): string | undefined {
  try {
    find()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
