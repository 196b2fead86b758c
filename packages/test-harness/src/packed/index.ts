import { resolve as pathOf } from 'node:path'
import type { Plugin } from 'esbuild'

/** The folder in which the packages are installed that tests play; undefined: they play the sources. */
export const project = process.env.SLUICE_PACKED

/** Bundles that a test makes have the installed packages, where tests play those. */
export const packedPackages: Plugin = {
  name: 'packed-packages',
  async setup({ onResolve, resolve }) {
    if (project === undefined) return
    // Imported late: a bundle that this is in has no use for it.
    const { entries, names } = (await import('./entries.cjs')).default
    onResolve({ filter: /^@sluice\/|^\..*\.ts$/ }, ({ path, kind, resolveDir }) => {
      const entry = path.startsWith('.') ? entries.get(pathOf(resolveDir, path)) : path
      if (entry === undefined || !names.has(entry) || resolveDir === project) return undefined
      return resolve(entry, { kind, resolveDir: project as string })
    })
  },
}
