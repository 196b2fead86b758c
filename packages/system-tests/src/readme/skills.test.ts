// The form of the skills; the test of blocks compiles their programs.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from '../files.ts'

interface Manifest {
  readonly private?: boolean
  readonly files?: readonly string[]
}

const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))
const published = readdirSync(join(root, 'packages')).filter(
  (name) => existsSync(join(root, 'packages', name, 'package.json')) && !manifestOf(name).private,
)

test.each(published)('the skill of %s has the form of agentskills.io, on one page', (name) => {
  expect(manifestOf(name).files).toContain('skills')
  const folder = join(root, 'packages', name, 'skills')
  expect(readdirSync(folder)).toEqual([`sluice-${name}`])
  const skill = readFileSync(join(folder, `sluice-${name}`, 'SKILL.md'), 'utf8')
  const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(skill) ?? []
  expect(head).toMatch(new RegExp(`^name: sluice-${name}$`, 'm'))
  const description = JSON.parse(/^description: (".*")$/m.exec(head)?.[1] ?? '""')
  expect(description).toMatch(/\. Use it when .*\.$/)
  expect(description.length).toBeLessThanOrEqual(1024)
  expect(body.split('\n').length).toBeLessThanOrEqual(90)
  expect(body.length).toBeLessThanOrEqual(5000)
  // It is read in node_modules, where the documents are not.
  expect(body.match(/\]\((?!https:)[^)]*\)/g)).toBeNull()
})
