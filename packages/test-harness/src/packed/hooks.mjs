import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import entries from './entries.cjs'

const parentURL = pathToFileURL(join(entries.project, 'program.mjs')).href

export function resolve(specifier, context, next) {
  return entries.names.has(specifier)
    ? next(specifier, { ...context, parentURL })
    : next(specifier, context)
}
