// The peer ranges let prereleases of the next major version in, so that users can try them, and the version itself not.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { satisfies } from 'semver'
import { root } from '../files.ts'

test.each([
  ['express', '4.22.1', '5.3.0', '6.0.0'],
  ['fastify', '5.0.0', '5.12.8', '6.0.0'],
  ['koa', '2.16.0', '3.3.0', '4.0.0'],
  ['hono', '4.8.0', '4.13.19', '5.0.0'],
])('%s', (name, oldest, newest, next) => {
  const manifest = readFileSync(join(root, `packages/${name}/package.json`), 'utf8')
  const range = JSON.parse(manifest).peerDependencies[name] as string
  for (const version of [oldest, newest, `${next}-alpha.1`, `${next}-rc.3`])
    expect([version, satisfies(version, range)]).toEqual([version, true])
  for (const version of [next, `${Number.parseInt(next, 10) + 1}.0.0-rc.1`])
    expect([version, satisfies(version, range)]).toEqual([version, false])
})
