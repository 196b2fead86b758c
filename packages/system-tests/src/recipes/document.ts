import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from '@jest/globals'

/** The text of a page of docs. */
export function pageOf(name: string): string {
  return readFileSync(join(__dirname, '../../../../docs', `${name}.md`), 'utf8')
}

/** The code of docs/recipes.md, without its imports. */
const shown = [...pageOf('recipes').matchAll(/^```ts\n(?:import [^\n]*\n)*\n?(.*?)^```$/gms)].map(
  ([, code]) => code,
)

/** Checks that docs/recipes.md shows each region of a file of this folder. */
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

const FORMS = { reserving: 'reserve', charging: 'charge afterwards' } as const

const settling = pageOf('settle')

/** The figures of docs/settle.md for 20 simultaneous requests. */
export function row(form: keyof typeof FORMS, label: string): Row {
  const start = `| ${label} | ${FORMS[form]} |`
  const line = settling.split('\n').find((each) => each.startsWith(start))
  if (line === undefined) throw new Error(`docs/settle.md has no row ${start}`)
  const states = line.split('|').slice(3, 7)
  const [served, refused, left, over] = states.map((state) =>
    Number(state.replace(/[ ,]|about/g, '')),
  ) as [number, number, number, number]
  return { served, refused, left, over }
}
