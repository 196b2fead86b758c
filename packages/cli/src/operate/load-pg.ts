import { createRequire } from 'node:module'
import { UsageError } from '@sluice/terminal/usage-error'

/**
 * The package pg, which only those have who use PostgreSQL.
 *
 * @param places files from which it is looked for, the first ones first
 * @throws UsageError if none of them finds it
 */
export function loadPg(places: readonly string[]): typeof import('pg') {
  for (const place of places) {
    try {
      return createRequire(place)('pg')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  throw new UsageError(
    '--postgres needs the package pg: npm install pg, or npx -p @sluice/cli -p pg sluice …',
  )
}
