import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, jest, test } from '@jest/globals'
import { memoryStore, SluiceError } from '@sluice/core'
import { rateLimit as elysiaLimit } from '@sluice/elysia'
import { rateLimit } from '@sluice/express'
import { shedLoad } from '@sluice/express/overload'
import { filesOf, root } from '../files.ts'

const pages = filesOf('docs/options*.md').map((page) => readFileSync(join(root, page), 'utf8'))
/** Each option of the pages, with what they say of it. */
const entries = pages
  .join('\n')
  .split(/^## /m)
  .flatMap((section) => {
    const [title = ''] = section.split('\n')
    return [...section.matchAll(/^### `(\w+)`\n(.*?)(?=^##|$(?![\s\S]))/gms)].map(
      ([, name = '', text = '']) => ({ title, name, text }),
    )
  })

const POLICY = { limit: 5, window: '1m' }
/** What an option needs beside it. */
const BESIDE: Record<string, object> = {
  burst: { ...POLICY, algorithm: 'token-bucket' },
  maxDelay: { ...POLICY, algorithm: 'leaky-bucket' },
  timeZone: { limit: 5, window: 'day' },
  anchor: { limit: 5, window: 'month' },
  concurrent: {},
  hold: { concurrent: 5 },
  priority: { ...POLICY, maxWait: '1s' },
  classes: { classOf: () => 'a' },
  policies: {},
}
const WRONG = [
  -1,
  0.5,
  '',
  'no',
  true,
  {},
  [2],
  { limit: 2 },
  { limit: { min: -1 } },
  [{ limit: '5' }],
  null,
  ['1.2.3.4/33'],
  { max: 0 },
  { after: 0, within: '1m', for: ['1m'] },
  { login: false },
]

function make(title: string, name: string, value: unknown): unknown {
  if (title.startsWith('`shedLoad')) return shedLoad({ ...BESIDE[name], [name]: value } as never)
  if (title.startsWith('`memoryStore')) return memoryStore({ [name]: value } as never)
  const options = { ...(BESIDE[name] ?? POLICY), [name]: value }
  if (name === 'as') return elysiaLimit(options as never)
  const inPolicies = title === 'What a policy counts' && (name === 'name' || name === 'dryRun')
  return rateLimit((inPolicies ? { policies: [options] } : options) as never)
}

const tested = entries.filter(
  ({ title, name }) =>
    !/^`(redis|postgres|mysql|dynamodb|sqlite)Store/.test(title) && !/^(address|hook)$/.test(name),
)

afterEach(() => {
  jest.restoreAllMocks()
})

test.each(tested)(
  'wrong values of $name throw what its page says ($title)',
  ({ title, name, text }) => {
    jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const [line = ''] = /^- .*; otherwise .*$/m.exec(text) ?? []
    const documented = [...line.matchAll(/`(SLUICE_\w+)`/g)].map(([, code]) => code)
    const thrown = WRONG.flatMap((value) => {
      try {
        make(title, name, value)
        return []
      } catch (error) {
        return [error instanceof SluiceError ? error.code : String(error)]
      }
    })
    // The page says of all options what these mean.
    const own = new Set(thrown.filter((code) => !/_OPTION_(CONFLICT|UNKNOWN)$/.test(code)))
    expect([...own].sort()).toEqual(documented.sort())
  },
)
