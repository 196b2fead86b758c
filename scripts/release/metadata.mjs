// Checks a tarball before anybody installs it.

import { isDeepStrictEqual } from 'node:util'
import { placeOf } from '../addresses.mjs'

const documentsOf = (name) => [
  'LICENSE',
  'README.md',
  // Editors check a file of limits by it.
  ...(name === 'cli' ? ['limits.schema.json'] : []),
  'package.json',
  `skills/sluice-${name}/SKILL.md`,
]
/** npm checks it against the repository of the provenance statement. */
const PLACE = ['repository', 'homepage', 'bugs']

/**
 * @param packed what `pack` returns for the package
 * @returns one line for each thing that is wrong
 */
export function problemsOf({ name, manifest, files, readme }) {
  const problems = []
  const expect = (isRight, problem) => isRight || problems.push(`${manifest.name}: ${problem}`)

  const place = placeOf(name)
  for (const field of PLACE)
    expect(isDeepStrictEqual(manifest[field], place[field]), `${field} is not that of the project`)
  expect(manifest.private === undefined, 'is private')
  const { access, provenance } = manifest.publishConfig ?? {}
  expect(access === 'public', "publishConfig.access is not 'public'")
  expect(provenance === true, 'publishConfig.provenance is not true')

  for (const file of targetsOf(manifest)) expect(files.includes(file), `${file} is missing`)
  const others = files.filter((file) => !file.startsWith('dist/')).sort()
  expect(isDeepStrictEqual(others, documentsOf(name)), `has ${others} beside dist`)
  const sources = files.filter((file) => /test\.|\/testing\/released/.test(file))
  expect(sources.length === 0, `has ${sources}`)

  const { dependencies, peerDependencies } = manifest
  for (const [dependency, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
    expect(!/^(workspace|catalog|file|link):/.test(range), `depends on ${dependency}@${range}`)
    const isOurs = dependency.startsWith('@sluice/') && dependencies?.[dependency] === range
    expect(!isOurs || range === `^${manifest.version}`, `depends on ${dependency}@${range}`)
  }
  expect(!/\]\((?![a-z]+:|#)/.test(readme), 'its README has relative links')
  return problems
}

/** The files that `exports` and `bin` name. */
function targetsOf({ exports = {}, bin = {} }) {
  const leaves = (value) =>
    typeof value === 'string' ? [value] : Object.values(value).flatMap(leaves)
  return leaves([exports, bin]).map((file) => file.replace(/^\.\//, ''))
}
