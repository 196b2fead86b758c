// The main path of docs/internals/architecture.md is what a request really runs, and it stays short.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { useRedis } from '@sluice/test-harness/jest'

const page = readFileSync(join(__dirname, '../../../../docs/internals/architecture.md'), 'utf8')
const redis = useRedis()

/** The most files and functions of the packages that one request in Express may run. */
const MOST = {
  memory: { files: 21, functions: 55 },
  Redis: { files: 36, functions: 109 },
}

async function pathOf(...args: string[]): Promise<{ file: string; functions: string[] }[]> {
  const program = join(__dirname, 'request-path.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--import',
    'tsx',
    program,
    ...args,
  ])
  return JSON.parse(stdout)
}

/** The files that the page lists under a heading. */
function listed(heading: string): string[] {
  const [, text = ''] = page.split(`${heading}\n`)
  const [section = ''] = text.split(/^## /m)
  return [...section.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file as string).sort()
}

describe.each([
  ['memory', '## The main path', () => []],
  ['Redis', '## The same on Redis', () => [`redis://127.0.0.1:${redis.client.options.port}`]],
] as const)('a request counted in %s', (store, heading, args) => {
  let path: { file: string; functions: string[] }[]
  beforeAll(async () => {
    path = await pathOf(...args())
  })

  test('runs the files that the page lists, and no others', () => {
    const files = path.map(({ file }) => file)
    const shared = store === 'Redis' ? listed('## The main path') : []
    expect(listed(heading)).toEqual(files.filter((file) => !shared.includes(file)).sort())
  })

  test('runs few functions in few files', () => {
    const functions = path.flatMap((each) => each.functions)
    expect(path.length).toBeLessThanOrEqual(MOST[store].files)
    expect(functions.length).toBeLessThanOrEqual(MOST[store].functions)
  })
})
