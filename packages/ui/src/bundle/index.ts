import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import type { bundle as contract } from './contract.d.ts'

export const bundle: typeof contract = (script, style) => {
  const { outputFiles, metafile } = buildSync({
    entryPoints: { script, style },
    outdir: '/',
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    logLevel: 'error',
  })
  const text = (type: string) => outputFiles.find(({ path }) => path.endsWith(type))!.text
  const licences = licencesOf(Object.keys(metafile.inputs))
  return { script: licences + text('.js'), style: text('.css') }
}

/**
 * The licence of each package that is in the bundle, as comments: esbuild keeps only those in a certain form.
 */
function licencesOf(files: readonly string[]): string {
  const folders = files.flatMap((file) => packageFolder.exec(resolve(file))?.[0] ?? [])
  return [...new Set(folders)]
    .map((folder) => `/*! ${basename(folder)}\n${licenceIn(folder)}*/\n`)
    .join('')
}

const packageFolder = /^.*[/\\]node_modules[/\\](@[^/\\]+[/\\])?[^/\\]+/

function licenceIn(folder: string): string {
  const name = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
  if (name === undefined) throw new Error(`no licence in ${folder}, so it must not be bundled`)
  return readFileSync(join(folder, name), 'utf8').replaceAll('*/', '* /')
}
