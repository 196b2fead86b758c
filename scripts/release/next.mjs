// node scripts/release/next.mjs: prints `version=1.2.3` if the packages' version is to be published, else `version=`.
// It is if npm does not have it yet (it is not published as a whole before the last of them is), and if it is frozen:
// the versions that follow are tested beside it.

import { published } from '../addresses.mjs'
import { isFrozen } from './freeze.mjs'
import { isOnNpm, manifestOf } from './packages.mjs'

const manifests = published.map(manifestOf)
const [{ version }] = manifests
const isNew = !manifests.every(isOnNpm)
const isNext = isNew && (await isFrozen())
if (isNew && !isNext)
  console.error(
    `${version} is not frozen as it is now. To publish it, run "node scripts/release/freeze.mjs" and commit what it writes.`,
  )
console.log(`version=${isNext ? version : ''}`)
