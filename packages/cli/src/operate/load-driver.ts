import { createRequire } from 'node:module'
import { join } from 'node:path'
import { cwd } from 'node:process'
import { UsageError } from '@sluice/terminal/usage-error'

/** The packages that only those have who use the database, with what the command uses of them. */
interface Drivers {
  pg: typeof import('pg')
  'mysql2/promise': typeof import('mysql2/promise')
}

/** As the project has it, else beside the command. */
const PLACES = [join(cwd(), 'package.json'), import.meta.url]

/**
 * The driver of a database.
 *
 * @param flag the option that needs it
 * @param places files from which it is looked for, the first ones first
 * @throws UsageError if none of them finds it
 */
export function loadDriver<Name extends keyof Drivers>(
  flag: string,
  name: Name,
  places: readonly string[] = PLACES,
): Drivers[Name] {
  for (const place of places) {
    try {
      return createRequire(place)(name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  const [driver] = name.split('/')
  throw new UsageError(
    `${flag} needs the package ${driver}: npm install ${driver}, or npx -p @sluice/cli -p ${driver} sluice …`,
  )
}
