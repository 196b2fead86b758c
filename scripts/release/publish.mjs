import { execFileSync } from 'node:child_process'
import { env } from 'node:process'
import { REPOSITORY } from '../addresses.mjs'
import { inOrder, isOnNpm } from './packages.mjs'

/** The oldest npm that can publish without a token. */
const LEAST_NPM = [11, 5, 1]

/** Undefined: the packages may be published from here. */
export function whyNotHere() {
  const workflow = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}`
  const isWorkflow = env.GITHUB_ACTIONS === 'true' && workflow === REPOSITORY
  if (!isWorkflow || env.GITHUB_REF !== 'refs/heads/main' || !env.ACTIONS_ID_TOKEN_REQUEST_URL)
    return `Only the workflow release of ${REPOSITORY} publishes, on main, with id-token: write. Run "npm run release -- --dry-run".`
  const npm = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim()
  const isOlder = npm.localeCompare(LEAST_NPM.join('.'), 'en', { numeric: true }) < 0
  return isOlder ? `npm ${LEAST_NPM.join('.')} or newer is needed; this is ${npm}.` : undefined
}

/** The tarballs that were checked. What npm already has is left out, so it can be repeated. */
export function publish(packed) {
  const tarballs = new Map(packed.map((each) => [each.name, each]))
  for (const name of inOrder([...tarballs.keys()])) {
    const { path, manifest } = tarballs.get(name)
    if (isOnNpm(manifest)) continue
    const args = ['publish', path, '--access', 'public', '--provenance']
    execFileSync('npm', args, { stdio: 'inherit' })
  }
}
