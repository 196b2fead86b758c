import { tsImport } from 'tsx/esm/api'

/** A module of core's sources. */
export const core = (module) => tsImport(`../../packages/core/src/${module}`, import.meta.url)
