// The packages that tests play in place of the sources: those that are installed, from their tarballs, in the folder
// $SLUICE_PACKED. Undefined: tests play the sources.

const { readdirSync, readFileSync } = require('node:fs')
const { join, resolve, sep } = require('node:path')

const packages = resolve(__dirname, '../../..')

/** The name of each entry, such as `@sluice/express/overload`, by the path of its source. */
const entries = new Map()
/** The folders of the sources of packages that have entries. */
const folders = []
for (const folder of readdirSync(packages)) {
  const manifest = readFileSync(join(packages, folder, 'package.json'), 'utf8')
  const { name, exports, publishConfig } = JSON.parse(manifest)
  if (publishConfig?.exports === undefined) continue
  folders.push(join(packages, folder, 'src') + sep)
  for (const entry of Object.keys(publishConfig.exports))
    entries.set(join(packages, folder, exports[entry]), join(name, entry))
}

/** What only tests need is in no package. */
const OF_TESTS =
  /\.test\.ts$|\/testing(\/|\.ts$)|-kit\.ts$|\/traces\.ts$|\/test-suites\/src\/adapter\/|\.script\.ts$/

module.exports = {
  project: process.env.SLUICE_PACKED,
  entries,
  names: new Set(entries.values()),
  /** Whether a file is a source of what packages have. */
  isPacked: (file) => folders.some((folder) => file.startsWith(folder)) && !OF_TESTS.test(file),
}
