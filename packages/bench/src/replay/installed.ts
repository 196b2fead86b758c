import { cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { home } from '../processes/bundle.ts'

/**
 * Packages of the workspace as a user has them installed, of what is built: no loader is in a
 * process that is measured.
 *
 * @param folder to be installed into
 * @param names the names of their folders; they may depend on one another
 * @returns the `node_modules`
 */
export function installed(folder: string, names: readonly string[]): string {
  const modules = join(folder, 'node_modules')
  for (const name of names) {
    const source = join(home, '..', name)
    const target = join(modules, '@sluice', name)
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
    cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true })
    const published = { ...manifest, ...manifest.publishConfig }
    writeFileSync(join(target, 'package.json'), JSON.stringify(published))
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      const link = join(target, 'node_modules', dependency)
      if (dependency.startsWith('@sluice/')) continue
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(realpathSync(join(source, 'node_modules', dependency)), link, 'junction')
    }
  }
  return modules
}
