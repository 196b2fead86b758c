import { tsImport } from 'tsx/esm/api'

/** A module of the sources of a package: `postgres/src/index.ts`. */
export const source = (module) => tsImport(`../../packages/${module}`, import.meta.url)

/** A module of core's sources. */
export const core = (module) => source(`core/src/${module}`)
