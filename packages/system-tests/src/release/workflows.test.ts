// What the workflows may do, and whose code they run.

import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const folder = resolve(import.meta.dirname, '../../../../.github/workflows')
const workflows = readdirSync(folder).map(
  (file) => [file, readFileSync(join(folder, file), 'utf8')] as const,
)

test.each(workflows)('%s pins actions by digest, with the version beside it', (_, text) => {
  const uses = [...text.matchAll(/\buses: (.*)$/gm)].map(([, action]) => action as string)
  expect(uses.length).toBeGreaterThan(0)
  for (const action of uses.filter((each) => !each.startsWith('./')))
    expect(action).toMatch(/^[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})

test.each(workflows)('%s grants nothing to all of its jobs but to read', (_, text) => {
  const granted = /^permissions:(?: \{\}|\n {2}contents: read)$/gm
  expect(text.match(granted)).toHaveLength(1)
})

test('only the job that publishes has an identity, and it cannot write to the repository', () => {
  const granting = workflows.flatMap(([file, text]) =>
    text
      .split(/^(?= {2}[\w-]+:$)/m)
      .filter((job) => job.includes('id-token: write'))
      .map((job) => ({ file, job })),
  )
  const publishing = granting.filter(({ file }) => file === 'release.yml')
  expect(publishing).toHaveLength(1)
  expect(publishing[0]?.job).toMatch(/^ {2}publish:\n/)
  expect(publishing[0]?.job).not.toContain('contents: write')
})
