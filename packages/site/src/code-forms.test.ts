import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from '@babel/parser'
import { expect, test } from '@jest/globals'
import { formsOf, toCommonJs } from './code-forms.ts'
import { withTabs } from './code-tabs.ts'
import { PAGES } from './pages.ts'
import { root } from './repository.ts'

const labels = (language: string, code: string) => formsOf(language, code).map(({ label }) => label)

test('a module has the form of the document first', () => {
  const code = "import express from 'express'\n"
  expect(labels('js', code)).toEqual(['ESM', 'CommonJS', 'TypeScript'])
  expect(labels('ts', code)).toEqual(['TypeScript', 'ESM', 'CommonJS'])
})

test.each([
  ['a default', "import express from 'express'", "const express = require('express')"],
  ['names', "import { a, b as c } from 'x'", "const { a, b: c } = require('x')"],
  ['all', "import * as x from 'x'", "const x = require('x')"],
  ['nothing', "import 'x'", "require('x')"],
  ['several lines', "import {\n  a,\n  b,\n} from 'x'", "const { a, b } = require('x')"],
])('an import of %s is a require', (_, imported, required) => {
  expect(toCommonJs(`${imported}\n\nf(a)\n`)).toBe(`${required}\n\nf(a)\n`)
})

test('code that waits stands in a function', () => {
  const code = "import { f } from 'x'\n\nconst a = await f()\n\nif (a) {\n  f(a)\n}\n"
  expect(toCommonJs(code)).toBe(
    "const { f } = require('x')\n\nasync function main() {\n  const a = await f()\n\n  if (a) {\n    f(a)\n  }\n}\n\nmain()\n",
  )
  expect(toCommonJs("import { f } from 'x'\n\nconst g = async () => await f()\n")).not.toMatch(
    /main/,
  )
})

test.each([
  ['has types', "import { f } from 'x'\nconst a: number = f()\n"],
  ['imports types', "import { f, type G } from 'x'\n"],
  ['exports', "import { f } from 'x'\nexport default f()\n"],
  ['imports nothing', 'app.use(limiter)\n'],
  ['imports a default and names', "import x, { y } from 'x'\n"],
])('code that %s has one form', (_, code) => {
  expect(formsOf('ts', code)).toEqual([])
})

test('each package manager has its commands', () => {
  const code = 'npm init -y\nnpm install express\nnpm install --save-dev tsx\nnpx x\n'
  expect(formsOf('sh', code).map(({ code: commands }) => commands)).toEqual([
    code,
    'pnpm init\npnpm add express\npnpm add --save-dev tsx\npnpm dlx x\n',
    'yarn init -y\nyarn add express\nyarn add --dev tsx\nyarn dlx x\n',
    'bun init -y\nbun add express\nbun add --dev tsx\nbunx x\n',
  ])
  expect(formsOf('sh', 'npm start\n')).toEqual([])
})

test('a server starts in each form', () => {
  const code = 'node server.mjs & PORT=3001 node server.mjs &\n'
  expect(formsOf('sh', code).map(({ code: commands }) => commands)).toEqual([
    code,
    'node server.cjs & PORT=3001 node server.cjs &\n',
    'npx tsx server.mts & PORT=3001 npx tsx server.mts &\n',
  ])
})

test('tabs are written as VitePress reads them; other blocks stay', () => {
  const text = '```text\n200\n```\n'
  expect(withTabs(`Run it:\n\n\`\`\`sh\nnode server.mjs\n\`\`\`\n\n${text}`)).toBe(
    `Run it:

::: code-group
\`\`\`sh [ESM]
node server.mjs
\`\`\`
\`\`\`sh [CommonJS]
node server.cjs
\`\`\`
\`\`\`sh [TypeScript]
npx tsx server.mts
\`\`\`
:::

${text}`,
  )
})

test('where the document names a file, the tabs do', () => {
  const text = withTabs("`server.mjs`:\n\n```js\nimport 'x'\n```\n")
  expect(text.match(/\[.*\]/g)).toEqual([
    '[ESM: server.mjs]',
    '[CommonJS: server.cjs]',
    '[TypeScript: server.mts]',
  ])
  expect(text).toMatch(/^::: code-group\n/)
})

test('every program of every page that has a CommonJS form is one', () => {
  const programs = PAGES.flatMap(({ file }) => [
    ...readFileSync(join(root, file), 'utf8').matchAll(/^```[jt]s\n(.*?)^```$/gms),
  ])
  const required = programs.flatMap(([, code = '']) => toCommonJs(code) ?? [])
  expect(required.length).toBeGreaterThan(30)
  for (const code of required) parse(code, { sourceType: 'script' })
})
