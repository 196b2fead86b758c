import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/** The folder of this package. */
export const home = join(import.meta.dirname, '../..')

/** Here `import` finds our packages as users install them, and the peers as they are installed. */
export const installed = join(home, 'dist')

/** The JavaScript of a script: the path of a file in src that ends with `.script.ts`, without this ending. */
export const scriptOf = (script: string) => join(installed, `${script}.script.mjs`)

/**
 * Installs our packages as they are built, and makes JavaScript of the scripts that run in processes of their own:
 * no loader is in a process that is measured.
 */
export async function install(): Promise<void> {
  rmSync(installed, { recursive: true, force: true })
  const packages = join(home, '..')
  for (const name of readdirSync(packages)) {
    const isBuilt = name !== 'bench' && existsSync(join(packages, name, 'dist'))
    if (isBuilt) installPackage(join(packages, name), join(installed, 'node_modules/@sluice', name))
  }
  await build({
    absWorkingDir: home,
    entryPoints: ['src/**/*.script.ts'],
    outbase: 'src',
    outdir: installed,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  })
}

/** Its dependencies of the workspace are beside it. */
function installPackage(source: string, target: string): void {
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
