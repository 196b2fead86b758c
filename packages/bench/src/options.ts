import { parseArgs } from 'node:util'

export const PARTS = ['memory', 'redis', 'http'] as const
export type Part = (typeof PARTS)[number]

export interface Options {
  readonly parts: readonly Part[]
  readonly quick: boolean
  /** Files to write. */
  readonly json?: string
  readonly markdown?: string
  readonly svg?: string
  /** A file of results to render, instead of measuring. */
  readonly from?: string
}

export const USAGE = `npm run bench -- [memory] [redis] [http] [options]

  --quick          short rounds, to see that it works
  --json FILE      write the results
  --markdown FILE  write the tables
  --svg FILE       write the chart
  --from FILE      render the results of an earlier run instead of measuring`

/** @throws Error that says what is wrong */
export function parseOptions(args: readonly string[]): Options {
  const file = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: file,
      markdown: file,
      svg: file,
      from: file,
    },
  })
  const unknown = positionals.find((name) => !isPart(name))
  if (unknown !== undefined) throw new Error(`there is no part ${unknown}`)
  const parts = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part))
  return { ...values, parts }
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name)
}
