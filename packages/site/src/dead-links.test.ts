import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { deadLinks } from './dead-links.ts'

const SITE = 'https://example.com/docs/'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'site-'))
  write('index.html', '<h1 id="top">First</h1>')
  write('guides/one.html', '<h2 id="größe">One</h2>')
  write('picture.svg', '<svg/>')
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

const ofPage = (html: string) => {
  write('guides/two.html', html)
  return deadLinks(folder, SITE)
}

test.each([
  '/docs/',
  '/docs/#top',
  '/docs/guides/one',
  './one#gr%C3%B6%C3%9Fe',
  '#here',
  'https://example.com/docs/guides/one',
  'https://elsewhere.example/docs/nowhere',
  'mailto:someone@example.com',
  '../picture.svg',
])('%s leads somewhere', (href) => {
  expect(ofPage(`<a id="here" href="${href}">`)).toEqual([])
})

test.each([
  '/docs/guides/three',
  '/docs/guides',
  '/docs/#bottom',
  '#nowhere',
  '/guides/one',
  'https://example.com/docs/guides/three',
])('%s does not', (href) => {
  expect(ofPage(`<a href="${href}">`)).toEqual([`guides/two.html: ${href}`])
})

test('pictures are links too', () => {
  expect(ofPage('<img src="../absent.svg"><source srcset="../picture.svg">')).toEqual([
    'guides/two.html: ../absent.svg',
  ])
})
