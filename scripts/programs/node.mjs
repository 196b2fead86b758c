// Other versions of Node, as npm brings them.

import { delimiter, dirname, join } from 'node:path'
import { env } from 'node:process'
import { root } from '../workspace.mjs'
import { output, outputOf } from './npm.mjs'

/**
 * The command for the workspace's tools on another Node.
 *
 * @param wanted such as `node@26`
 * @returns its version and the PATH; undefined if npm cannot bring it here
 */
export function otherNode(wanted) {
  const node = outputOf(wanted, 'node', '-p', 'process.execPath')
  if (node === undefined) return undefined
  const path = [join(root, 'node_modules', '.bin'), dirname(node), env.PATH].join(delimiter)
  return { version: output(node, ['--version']), path }
}
