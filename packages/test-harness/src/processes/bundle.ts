import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { packedPackages } from '../packed/index.ts'

/** Packages from npm are imported by their paths, so that the bundle runs in any folder. */
const packagesByPath: Plugin = {
  name: 'packages-by-path',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./#]/ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      if (pluginData === packagesByPath) return undefined
      const found = await resolve(path, { importer, kind, resolveDir, pluginData: packagesByPath })
      if (!found.path.includes('/node_modules/')) return found
      return { path: pathToFileURL(found.path).href, external: true }
    })
  },
}

/** A file finds what lies beside it. */
const ownFolders: Plugin = {
  name: 'own-folders',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const folder = JSON.stringify(dirname(path))
      const source = readFileSync(path, 'utf8')
      return { contents: source.replaceAll('import.meta.dirname', folder), loader: 'ts' }
    })
  },
}

const bundles = new Map<string, Promise<string>>()

/**
 * The JavaScript of a file and of all of ours that it imports: loading the TypeScript takes a process
 * five times as long as starting. A test file makes it once.
 */
export function bundle(script: string): Promise<string> {
  const known = bundles.get(script) ?? makeBundle(script)
  bundles.set(script, known)
  return known
}

async function makeBundle(script: string): Promise<string> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [script],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // As Node resolves: with none, esbuild takes what is for bundlers.
    conditions: [],
    plugins: [packedPackages, packagesByPath, ownFolders],
  })
  return outputFiles[0]?.text as string
}

export interface BundleOptions {
  readonly args?: readonly string[]
  /** Flags for Node. */
  readonly flags?: readonly string[]
  /** Default: this process's own. */
  readonly stderr?: 'pipe'
}

/** Runs a bundle in a Node process of its own, which can send messages to this one. */
export function startBundle(
  code: string,
  { args = [], flags = [], stderr }: BundleOptions = {},
): ChildProcess {
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-', ...args], {
    stdio: ['pipe', 'inherit', stderr ?? 'inherit', 'ipc'],
  })
  // It may be killed before it has read all.
  child.stdin?.on('error', () => {})
  child.stdin?.end(code)
  return child
}
