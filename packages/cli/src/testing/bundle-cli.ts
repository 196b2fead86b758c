import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'
import { build, type Plugin } from 'esbuild'

const home = join(__dirname, '..', '..')
/** As far below the manifest as the modules of `src`, since one of them reads it. */
const outdir = mkdtempSync(join(home, 'node_modules/.sluice-'))
afterAll(() => rmSync(outdir, { recursive: true }))

/** As the build does: a module `x.built.ts` runs now, and is replaced by what it exports. */
const replaceBuilt: Plugin = {
  name: 'replace-built',
  setup({ onLoad }) {
    onLoad({ filter: /\.built\.ts$/ }, async ({ path }) => {
      const exported = Object.entries(await import(path))
      const lines = exported.map(
        ([name, value]) => `export const ${name} = ${JSON.stringify(value)}`,
      )
      return { contents: lines.join('\n') }
    })
  },
}

/** The command and what it depends on as JavaScript: compiling the sources takes five times as long. */
async function bundleCli(): Promise<string> {
  await build({
    entryPoints: [join(home, 'src/main.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What only one command needs is in a file of its own.
    splitting: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // What CommonJS modules call. A name that no source imports.
    banner: {
      js: "import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url)",
    },
    // It loads files of its own.
    external: ['jiti'],
    plugins: [replaceBuilt],
  })
  return join(outdir, 'main.mjs')
}

let bundled: Promise<string> | undefined

/** The file of the bundled command: the sources as they are now. */
export function cliFile(): Promise<string> {
  bundled ??= bundleCli()
  return bundled
}
