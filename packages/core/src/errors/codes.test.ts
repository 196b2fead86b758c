import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from '@jest/globals'
import type { Code } from './codes.ts'
import { reference } from './reference.ts'
import { SluiceError } from './sluice-error.ts'
import { StoreError } from './store-error.ts'
import { warnOnce } from './warning.ts'

const root = join(__dirname, '../../../..')
const packages = readdirSync(join(root, 'packages'))
  .map((name) => join('packages', name))
  .filter((folder) => existsSync(join(root, folder, 'src')))

/** The anchors of a page, as GitHub makes them from its headings. */
function anchorsOf(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading as string)
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}

const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
const anchors = anchorsOf(page)
/** Generating the page fails if it does not have exactly the codes of the types. */
const codes = Array.from(page.matchAll(/^### (SLUICE_\w+)$/gm), ([, code]) => code as Code)

describe('docs/errors.md', () => {
  it.each(codes)('has the place that messages with %s name', (code) => {
    const [, anchor] = /, https:\/\/\S+\/errors#(.+)\)$/.exec(reference(code)) ?? []
    expect(anchors.filter((each) => each === anchor)).toHaveLength(1)
  })

  it('has every place to which a document links', () => {
    const folders = ['.', 'docs', ...packages]
    const links = folders.flatMap(linksIn)
    expect(links).not.toEqual([])
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([])
  })
})

/** The anchors on the page that the documents of a folder name. */
function linksIn(folder: string): string[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.md'))
  return names.flatMap((name) => {
    const link = name === 'errors.md' ? /\]\(#([^)]+)\)/g : /errors\.md#([^)]+)\)/g
    const text = readFileSync(join(root, folder, name), 'utf8')
    return [...text.matchAll(link)].map(([, anchor]) => anchor as string)
  })
}

test('every code is given by some source', () => {
  const used = new Set<string>()
  for (const folder of packages) {
    const sources = join(root, folder, 'src')
    for (const file of readdirSync(sources, { recursive: true }) as string[]) {
      if (
        !file.endsWith('.ts') ||
        file.endsWith('.test.ts') ||
        /errors.(codes|setup-actions)\.ts$/.test(file)
      )
        continue
      const text = readFileSync(join(sources, file), 'utf8')
      for (const [code] of text.matchAll(/SLUICE_[A-Z_0-9]+/g)) used.add(code)
    }
  }
  expect(codes.filter((code) => !used.has(code))).toEqual([])
})

test('a code that the table lacks, or has for another kind of message, does not compile', () => {
  const mistake = { option: 'limit', expected: 'an integer', received: '5', fix: 'Give it.' }
  const failure = { operation: 'settle', problem: 'it failed', advice: 'Repeat it.' }
  const calls = [
    // @ts-expect-error
    () => new SluiceError({ ...mistake, code: 'SLUICE_NOWHERE' }),
    // @ts-expect-error
    () => new SluiceError({ ...mistake, code: 'SLUICE_STORE_UNAVAILABLE' }),
    // @ts-expect-error
    () => new StoreError({ ...failure, code: 'SLUICE_REDIS_AUTH' }),
    // @ts-expect-error
    () => warnOnce('SLUICE_NOWHERE', 'text'),
    // @ts-expect-error
    () => warnOnce('SLUICE_OPTION_TYPE', 'text'),
  ]
  expect(calls).toHaveLength(5)
})
