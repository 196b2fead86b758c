// Loaded before a measured script: packages of the workspace are their built form, as users get
// them, and not the sources that the workspace shows to its tests.

import { register } from 'node:module'

const packages = new URL('../../..', import.meta.url)
const hook = `import { readFileSync } from 'node:fs'
const PACKAGES = ${JSON.stringify(packages.href)}
function builtFile(name, find) {
  const folder = new URL(name + '/', PACKAGES)
  const { publishConfig } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  return new URL(find(publishConfig), folder).href
}
export function resolve(specifier, context, next) {
  const [, name, entry = ''] = /^@sluice\\/(\\w+)(\\/[\\w-]+)?$/.exec(specifier) ?? []
  if (name !== undefined) {
    return next(builtFile(name, ({ exports }) => exports['.' + entry].import.default), context)
  }
  // What a package imports of itself: only ours do so in a folder dist.
  const [, importer] = /\\/packages\\/(\\w+)\\/dist\\//.exec(context.parentURL ?? '') ?? []
  if (!specifier.startsWith('#') || importer === undefined) return next(specifier, context)
  return next(builtFile(importer, ({ imports }) => imports[specifier].node), context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
