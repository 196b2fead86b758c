import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.mjs'

/** @param name the folder of a package */
export function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
}

/** Folders of packages, each behind those that it depends on. */
export function inOrder(names) {
  const needs = (name) => Object.keys(manifestOf(name).dependencies ?? {})
  const ordered = new Set()
  const add = (name) => {
    for (const other of names) if (needs(name).includes(manifestOf(other).name)) add(other)
    ordered.add(name)
  }
  for (const name of names) add(name)
  return [...ordered]
}

/** Throws if npm does not answer: that a version is not there must be certain. */
export function isOnNpm({ name, version }) {
  const { stdout, status } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json'], {
    encoding: 'utf8',
  })
  const answer = stdout.trim() === '' ? undefined : JSON.parse(stdout)
  if (status === 0) return answer === version
  if (answer?.error?.code === 'E404') return false
  throw new Error(`npm view ${name}@${version}: ${answer?.error?.summary ?? 'no answer'}`)
}
