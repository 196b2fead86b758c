import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** The folder of this package. */
export const home = join(import.meta.dirname, '../..')

/** The files that run in processes of their own, by what they measure. */
export const SCRIPTS = {
  allocation: 'src/memory/allocation.script.ts',
  counting: 'src/postgres/counting.script.ts',
  decisions: 'src/redis/decisions.script.ts',
  heap: 'src/memory/heap.script.ts',
  pause: 'src/memory/pause.script.ts',
  requests: 'src/http/requests.script.ts',
  sharing: 'src/sqlite/sharing.script.ts',
  speed: 'src/memory/speed.script.ts',
}

export type Script = keyof typeof SCRIPTS

/**
 * Makes JavaScript of the files that are measured in processes of their own, so that no loader is
 * in those. Packages stay packages: Node loads the peers' as they are installed.
 */
export async function bundleScripts(): Promise<void> {
  rmSync(join(home, 'dist'), { recursive: true, force: true })
  await build({
    absWorkingDir: home,
    entryPoints: Object.entries(SCRIPTS).map(([out, path]) => ({ in: path, out })),
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  })
}

export function bundled(script: Script): string {
  return join(home, 'dist', `${script}.mjs`)
}

/** Our packages are their built form, as users get them, and not the sources that the workspace shows to its tests. */
const ours: Plugin = {
  name: 'ours',
  setup({ onResolve }) {
    const packages = join(home, '..')
    const manifestOf = (name: string) =>
      JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')).publishConfig
    onResolve({ filter: /^@sluice\// }, ({ path }) => {
      const [, name, entry = ''] = /^@sluice\/(\w+)(\/[\w-]+)?$/.exec(path) ?? []
      return {
        path: join(
          packages,
          name as string,
          manifestOf(name as string).exports[`.${entry}`].import.default,
        ),
      }
    })
    onResolve({ filter: /^#/ }, ({ path }) => {
      return { path: join(packages, 'core', manifestOf('core').imports[path].node) }
    })
  },
}

/**
 * Makes JavaScript of a script and of our packages in it, for a process without the loader that finds these, as on
 * another runtime.
 *
 * @returns its path
 */
export async function bundleWithOurs(path: string, name: string): Promise<string> {
  const outfile = join(home, 'dist', `${name}.mjs`)
  await build({
    absWorkingDir: home,
    entryPoints: [path],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Chunks of ours import files that have no side effects, for which esbuild warns.
    logLevel: 'error',
    plugins: [ours],
  })
  return outfile
}
