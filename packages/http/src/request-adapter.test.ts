import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const packages = join(__dirname, '../..')

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('.test.'))
}

test.each([
  ['node', /\b(IncomingMessage|ServerResponse|on-headers)\b/],
  ['fetch', /\bnew (Response|Headers|ReadableStream)\(|\.signal\b/],
])('%s/ knows the messages of its platform, and no other folder does', (own, words) => {
  const knowing = sources(__dirname).filter(
    (file) => !/\btesting\W/.test(file) && words.test(readFileSync(join(__dirname, file), 'utf8')),
  )
  expect(knowing.length).toBeGreaterThan(0)
  expect(knowing.filter((file) => !file.startsWith(own))).toEqual([])
})

test('nothing else is taken for a message of Node', () => {
  for (const name of readdirSync(packages)) {
    const folder = join(packages, name, 'src')
    const casts = sources(folder).filter((file) =>
      /as unknown as (IncomingMessage|ServerResponse)/.test(
        readFileSync(join(folder, file), 'utf8'),
      ),
    )
    expect([name, casts]).toEqual([name, []])
  }
})
