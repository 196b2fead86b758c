import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const home = join(__dirname, '..', '..')
const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))

/** A module that asks where it is gets the place of its source. */
const placeOfSources: Plugin = {
  name: 'place-of-sources',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      const contents = source
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: 'ts' }
    })
  },
}

/**
 * The command in one file of JavaScript: its process starts in a quarter of the time that compiling
 * the sources takes.
 */
async function bundleCli(): Promise<string> {
  const outfile = join(home, `node_modules/.cache/sluice-${process.env.JEST_WORKER_ID}.mjs`)
  await build({
    entryPoints: [join(home, 'src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // What CommonJS modules call.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
    external: ['esbuild', ...Object.keys(dependencies).filter((name) => !name.startsWith('@'))],
    plugins: [placeOfSources],
  })
  return outfile
}

let bundled: Promise<string> | undefined

/** The file of the bundled command: the sources as they are now. */
export function cliFile(): Promise<string> {
  bundled ??= bundleCli()
  return bundled
}
