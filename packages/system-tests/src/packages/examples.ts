// The first example of each README, as a reader pastes it into a file. It listens on the port 3000:
// consumer/free-port.mjs moves it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const FRAMEWORKS = ['express', 'fastify', 'hono', 'koa', 'nest', 'node'] as const

/** The examples, by the names of their files. */
export const EXAMPLES = ['shared', ...FRAMEWORKS] as const

/** The first of the project's README counts in Redis, the others in memory. */
function exampleOf(workspace: string, name: string): string {
  const folder = name === 'shared' ? '.' : `packages/${name}`
  const readme = readFileSync(join(workspace, folder, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```(?:js|ts|ts server)\n(.*?)^```$/gms)]
  return blocks[0]?.[1] as string
}

/** Requests that an example admits, before one is refused. */
export function limitOf(workspace: string, name: string): number {
  return Number(/\blimit: (\d+)/.exec(exampleOf(workspace, name))?.[1])
}

/** Each import becomes a require, and what may await stands in a function. */
function toCommonJs(source: string): string {
  const imports = /^import (.*) from (.*)\n/gm
  const requires = [...source.matchAll(imports)].map(
    ([, names, from]) => `const ${names} = require(${from})`,
  )
  const rest = source.replace(imports, '')
  return [...requires, 'async function main() {', rest, '}', 'main()', ''].join('\n')
}

/**
 * Writes the examples into a folder of the project: `express.mjs` and `express.cjs`, and
 * `typed/express.mts` for the compiler. One with decorators is `typed/nest.mts` and `typed/nest.cts`, of
 * which the compiler makes both forms.
 */
export function writeExamples(workspace: string, folder: string): void {
  mkdirSync(join(folder, 'typed'), { recursive: true })
  for (const name of EXAMPLES) {
    const source = exampleOf(workspace, name)
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
    write(`typed/${name}.mts`, source)
    if (source.includes('\n@')) write(`typed/${name}.cts`, source)
    else {
      write(`${name}.mjs`, source)
      write(`${name}.cjs`, toCommonJs(source))
    }
  }
}
