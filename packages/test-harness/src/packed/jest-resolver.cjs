// How Jest finds modules where tests play the installed packages: what imports an entry of one, by its name or by the
// path of its source, gets the installed file. A test that loads another source of a package fails: it would not judge
// what users have. $SLUICE_PACKED_FORMAT=esm takes the ES modules.

const { entries, isPacked, names, project } = require('./entries.cjs')

const format = process.env.SLUICE_PACKED_FORMAT === 'esm' ? 'import' : 'require'
const conditions = [format, 'node', 'default']

module.exports = (request, options) => {
  const { basedir, defaultResolver } = options
  const installed = (name) => defaultResolver(name, { ...options, basedir: project, conditions })
  if (names.has(request)) return installed(request)
  if (basedir.startsWith(project)) return defaultResolver(request, inside(request, options))
  const found = defaultResolver(request, options)
  if (entries.has(found)) return installed(entries.get(found))
  if (isPacked(found)) throw new Error(`${found} is in no package. Import an entry of the package.`)
  return found
}

/** An installed package finds its own files, and what it imports by `imports`, in its format. */
function inside(request, options) {
  return /^[.#]/.test(request) ? { ...options, conditions } : options
}
