import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const fixtures = join(__dirname, 'fixtures')

/** The files that are migrated in tests. */
export const names = readdirSync(fixtures, { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => name)

/** The path of a file of a fixture. */
export function pathOf(name: string, stem: 'before' | 'after'): string {
  const file = readdirSync(join(fixtures, name)).find((each) => each.startsWith(`${stem}.`))
  return join(fixtures, name, file as string)
}

export function textOf(name: string, stem: 'before' | 'after'): string {
  return readFileSync(pathOf(name, stem), 'utf8')
}
