// Loaded before a measured script: packages of the workspace are their built form, as users get
// them, and not the sources that the workspace shows to its tests.

import { register } from 'node:module'

const packages = new URL('../../..', import.meta.url)
const hook = `import { readFileSync } from 'node:fs'
export function resolve(specifier, context, next) {
  const [, name, entry] = /^@sluice\\/(\\w+)(\\/\\w+)?$/.exec(specifier) ?? []
  if (name === undefined) return next(specifier, context)
  const folder = new URL(name + '/', ${JSON.stringify(packages.href)})
  const { publishConfig } = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8'))
  const { import: built } = publishConfig.exports['.' + (entry ?? '')]
  return next(new URL(built.default, folder).href, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
