import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** CommonJS modules have these around them. No source imports these names. */
const COMMONJS = `import { createRequire as requireAt } from 'node:module'; const require = requireAt(import.meta.url)
const { filename: __filename, dirname: __dirname } = import.meta`

/** A module `x.built.ts` runs now, and what it exports stands in its place: data that takes tools to make. */
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

/**
 * Bundles a command as ESM in `dist`, with all that its manifest does not name as a dependency:
 * `main.js`, and a file for each part that only some of its commands load. Starting it then reads few
 * files, and installing it installs few packages. `third-party.txt` has the licences of what is in it.
 *
 * @param folder the package's folder
 * @returns the licences, such as MIT, by the names of the packages
 */
export async function bundleCommand(
  folder: string,
  dist = join(folder, 'dist'),
): Promise<ReadonlyMap<string, string>> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { metafile } = await build({
    entryPoints: [join(folder, 'src/main.ts')],
    absWorkingDir: folder,
    outdir: dist,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: COMMONJS },
    external: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    plugins: [replaceBuilt],
  })
  const others = packagesOf(Object.keys(metafile.inputs).map((file) => join(folder, file)))
  writeFileSync(join(dist, 'third-party.txt'), others.map(noticeOf).join('\n'))
  return new Map(others.map(({ name, license }) => [name, license]))
}

interface Package {
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly license: string
}

/** The packages of others that the files belong to, by their names. */
function packagesOf(files: readonly string[]): Package[] {
  const folders = new Set(
    files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  )
  const packages = [...folders].map((folder) => ({
    ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
    folder,
  }))
  return packages.sort((a, b) => a.name.localeCompare(b.name))
}

function noticeOf({ folder, name, version, license }: Package): string {
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}, ${license}\n\n${text}\n`
}
