// npm run generate finds links that lead nowhere, in all documents.

import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const root = resolve(__dirname, '../../../..')
const SITE = 'https://sluicejs.github.io/sluice/'

function deadLinksOf(markdown: string): unknown {
  const print = `import { deadLinksOf } from './scripts/generate/links.mjs'
    console.log(JSON.stringify(deadLinksOf('docs/example.md', ${JSON.stringify(markdown)})))`
  const args = ['--input-type=module', '--eval', print]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

test('links lead to files and to headings, by the anchors of GitHub', () => {
  const markdown = `
# Töne & \`Names\`, [linked](choosing.md)
## Again
## Again
[a](#töne--names-linked) [b](#again-1) [c](choosing.md#4-monitor) [d](../packages/core#stores)
[e](${SITE}choosing#4-monitor) [f](https://example.com/nowhere#at-all) <a id="here" href="#here">
`
  expect(deadLinksOf(markdown)).toEqual([])
})

test('others lead nowhere', () => {
  const links = [
    '#again',
    'nowhere.md',
    '../packages/nowhere',
    'choosing.md#5-monitor',
    '../README.md#what-to-know',
    `${SITE}choosing#nowhere`,
  ]
  expect(deadLinksOf(links.map((link) => `[text](${link})`).join('\n'))).toEqual(links)
})

test('code has no links and no headings', () => {
  const markdown = '`[a](nowhere.md)`\n\n```md\n# Heading\n[b](nowhere.md)\n```\n\n[c](#heading)'
  expect(deadLinksOf(markdown)).toEqual(['#heading'])
})
