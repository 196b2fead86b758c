import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

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
