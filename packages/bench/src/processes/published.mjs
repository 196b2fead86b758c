// Loaded before a measured script: packages of the workspace are their built form, as users get
// them, and not the sources that the workspace shows to its tests.

import { register } from 'node:module'

const packages = new URL('../../..', import.meta.url)
const hook = `export function resolve(specifier, context, next) {
  const [, name] = /^@sluice\\/(\\w+)$/.exec(specifier) ?? []
  if (name === undefined) return next(specifier, context)
  return next(new URL(name + '/dist/esm/index.js', ${JSON.stringify(packages.href)}).href, context)
}`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
