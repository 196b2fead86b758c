import { resolve as pathOf } from 'node:path'
import type { Plugin } from 'esbuild'
import { entries, names, project } from './entries.cjs'

export { project }

/** Bundles that a test makes have the installed packages, where tests play those. */
export const packedPackages: Plugin = {
  name: 'packed-packages',
  setup({ onResolve, resolve }) {
    if (project === undefined) return
    onResolve({ filter: /^@sluice\/|^\..*\.ts$/ }, ({ path, kind, resolveDir }) => {
      const entry = path.startsWith('.') ? entries.get(pathOf(resolveDir, path)) : path
      if (entry === undefined || !names.has(entry) || resolveDir === project) return undefined
      return resolve(entry, { kind, resolveDir: project as string })
    })
  },
}
