import { parseArgs } from 'node:util'

export const PARTS = ['memory', 'redis', 'cluster', 'http'] as const
export type Part = (typeof PARTS)[number]

export interface Options {
  readonly parts: readonly Part[]
  readonly quick: boolean
  /** Show the results of the last full run instead of measuring. */
  readonly render: boolean
}

export const USAGE = `npm run bench                              measures everything and writes docs/benchmarks.*,
                                           the tables in docs/performance.md, docs/internals/figures.md and the README
npm run bench -- [memory] [redis] [cluster] [http]
                                           measures a part, and writes no file
npm run bench -- cold|settling|postgres|mysql|dynamodb|sqlite|replay|calls|held|inspect|leases|outgoing|overload
                                           one of the other benches, which write no file
npm run bench -- --quick                   short rounds, to see that it works; writes no file
npm run bench -- --render                  writes the files again from docs/benchmarks.json`

/** @throws Error that says what is wrong */
export function parseOptions(args: readonly string[]): Options {
  const flag = { type: 'boolean', default: false } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { quick: flag, render: flag },
  })
  const unknown = positionals.find((name) => !isPart(name))
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}`)
  const parts = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part))
  return { ...values, parts }
}

/** Whether the results are those that the documents show. */
export function isFull({ parts, quick }: Options): boolean {
  return parts.length === PARTS.length && !quick
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name)
}
