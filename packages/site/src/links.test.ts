import { expect, test } from '@jest/globals'
import { onSite } from './links.ts'

test.each([
  ['docs/events.md', 'options.md#name-1', '/options#name-1'],
  ['docs/events.md', '../packages/otel', '/packages/otel'],
  ['docs/events.md', '../packages/core/README.md#stores', '/packages/core#stores'],
  ['docs/start/express.md', '../README.md', '/'],
  [
    'packages/core/README.md',
    'https://sluicejs.github.io/sluice/errors#sluice_key',
    '/errors#sluice_key',
  ],
  ['docs/events.md', '#identifying-clients', '#identifying-clients'],
  ['docs/events.md', 'https://example.com/options.md', 'https://example.com/options.md'],
])('in %s, %s is %s', (from, href, expected) => {
  expect(onSite(from, href)).toBe(expected)
})

test('other files and folders are in the repository', () => {
  const inRepository = 'https://github.com/sluicejs/sluice'
  expect(onSite('docs/events.md', '../README.md#install')).toBe(
    `${inRepository}/blob/main/README.md#install`,
  )
  expect(onSite('docs/events.md', '../examples/hono/')).toBe(
    `${inRepository}/tree/main/examples/hono`,
  )
})

test.each(['nowhere.md', '../nowhere', '../../elsewhere'])('%s does not exist', (href) => {
  expect(() => onSite('docs/events.md', href)).toThrow(`docs/events.md links to ${href}`)
})
