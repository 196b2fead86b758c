// Finds Prometheus, whose package has promtool too.

import { env } from 'node:process'
import { installWithApt } from './apt.mjs'
import { onPath } from './executable.mjs'

/** Installs Prometheus, or says how to: without it the tests that need it are skipped. */
export async function findPrometheus() {
  const isInstalled = () =>
    Boolean(env.PROMETHEUS || onPath(['prometheus'])) &&
    Boolean(env.PROMTOOL || onPath(['promtool']))
  if (!isInstalled()) await installWithApt('prometheus')
  if (isInstalled()) return
  console.error(
    'The tests of the alerts and the dashboard need Prometheus: install prometheus (apt, dnf, brew), or set PROMETHEUS and PROMTOOL to the paths of its programs.',
  )
}
