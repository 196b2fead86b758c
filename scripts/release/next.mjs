// node scripts/release/next.mjs: prints `version=1.2.3` if npm does not have the packages' version yet,
// else `version=`. It is not published as a whole before the last of them is.

import { published } from '../addresses.mjs'
import { isOnNpm, manifestOf } from './packages.mjs'

const manifests = published.map(manifestOf)
const all = manifests.every(isOnNpm)
console.log(`version=${all ? '' : manifests[0].version}`)
