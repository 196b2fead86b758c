import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Bundle } from './contract.d.ts'
import { bundle } from './index.ts'

const source = resolve(import.meta.dirname, '..')
let folder: string
let made: Bundle

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-bundle-'))
  const [script, style] = [join(folder, 'main.ts'), join(folder, 'main.css')]
  const module = JSON.stringify(join(source, 'page', 'index.ts'))
  writeFileSync(script, `import { createChart } from ${module}\ncreateChart(document.body, {}, [])`)
  writeFileSync(style, `@import ${JSON.stringify(join(source, 'chart.css'))};`)
  made = bundle(script, style)
})

afterAll(() => rmSync(folder, { recursive: true }))

test('a bundle asks for nothing that is not in it', () => {
  expect(made.script).not.toMatch(/\b(import|require)\b *[("']/)
  expect(made.style).not.toMatch(/@import|url\(/)
  expect(made.style).toContain('.u-over')
})

test('a bundle holds the licence of each library in it', () => {
  expect(made.script).toMatch(/^\/\*! uplot\nThe MIT License.*Leon Sorokin.*WITHOUT WARRANTY/s)
})

test('nothing in a bundle ends the element that holds it', () => {
  expect(made.script).not.toMatch(/<\/script|<!--/i)
  expect(made.style).not.toMatch(/<\/style/i)
})
