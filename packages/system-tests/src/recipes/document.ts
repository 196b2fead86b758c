import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'

/** docs/recipes.md */
export const page = readFileSync(join(__dirname, '../../../../docs/recipes.md'), 'utf8')

/** The code of the page, without its imports. */
const shown = [...page.matchAll(/^```ts\n(?:import [^\n]*\n)*\n?(.*?)^```$/gms)].map(
  ([, code]) => code,
)

/** Checks that the page shows each region of a file of this folder. */
export function expectShown(file: string): void {
  const source = readFileSync(join(__dirname, file), 'utf8')
  const regions = [...source.matchAll(/^ {2}\/\/ #region\n(.*?)^ {2}\/\/ #endregion$/gms)]
  expect(regions).not.toHaveLength(0)
  for (const [, region] of regions) {
    expect(shown).toContain((region as string).replace(/^ {2}/gm, ''))
  }
}

export interface Row {
  readonly served: number
  readonly refused: number
  readonly left: number
  readonly over: number
}

const HEADINGS = {
  reserving: '### Reserve first',
  charging: '### Charge afterwards',
} as const

/** The figures of the page for 20 simultaneous requests. */
export function row(section: string, form: keyof typeof HEADINGS, label: string): Row {
  const text = between(between(page, `\n## ${section}\n`, '\n## '), HEADINGS[form], '\n### ')
  const line = text.split('\n').find((each) => each.startsWith(`| ${label} |`))
  if (line === undefined) throw new Error(`docs/recipes.md has no row for ${label}`)
  const states = line.split('|').slice(2, 6)
  const [served, refused, left, over] = states.map((state) =>
    Number(state.replace(/[ ,]|about/g, '')),
  ) as [number, number, number, number]
  return { served, refused, left, over }
}

function between(text: string, from: string, to: string): string {
  const start = text.indexOf(from)
  if (start < 0) throw new Error(`docs/recipes.md has no ${from.trim()}`)
  const end = text.indexOf(to, start + from.length)
  return text.slice(start + from.length, end < 0 ? undefined : end)
}
