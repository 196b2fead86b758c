import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { cwd, execPath } from 'node:process'
import { EXIT, type ExitCode } from '@sluice/terminal/exit-code'
import { say } from '@sluice/terminal/say'

/**
 * Runs `@sluice/migrate` where the project has it, or stands beside this package.
 *
 * @param args the arguments of the command line
 * @returns its exit code
 */
export function handOver(args: readonly string[]): ExitCode {
  const main = mainOfMigrate([join(cwd(), 'package.json'), import.meta.url])
  if (main === undefined) {
    say('sluice: migrate is a package of its own. Run npx @sluice/migrate FILE…')
    return EXIT.usage
  }
  say('sluice: migrate is a package of its own, npx @sluice/migrate. It runs now.')
  const { status } = spawnSync(execPath, [main, ...args], { stdio: 'inherit' })
  return (status ?? EXIT.failed) as ExitCode
}

/** @param places files from which it is looked for */
function mainOfMigrate(places: readonly string[]): string | undefined {
  for (const place of places) {
    try {
      const manifest = createRequire(place).resolve('@sluice/migrate/package.json')
      const { bin } = JSON.parse(readFileSync(manifest, 'utf8'))
      return join(dirname(manifest), bin['sluice-migrate'])
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error
    }
  }
  return undefined
}
