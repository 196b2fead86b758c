// The first example of each README and start page, as a reader pastes it into a file. It listens on the port 3000:
// consumer/free-port.mjs moves it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toCommonJs } from '@sluice/site/code-forms'

export const FRAMEWORKS = ['express', 'fastify', 'hono', 'koa', 'nest', 'node'] as const

/** The examples that count in Redis: the first of the project's README, and the start page for Redis. */
export const IN_REDIS: readonly string[] = ['shared', 'start-redis']

/** The examples, by the names of their files. */
export const EXAMPLES = [
  ...FRAMEWORKS,
  ...['express', 'fastify', 'hono', 'koa', 'node'].map((name) => `start-${name}`),
  ...IN_REDIS,
]

function documentOf(name: string): string {
  if (name === 'shared') return 'README.md'
  if (name.startsWith('start-')) return `docs/start/${name.slice('start-'.length)}.md`
  return `packages/${name}/README.md`
}

/** The code of an example. */
export function exampleOf(workspace: string, name: string): string {
  const readme = readFileSync(join(workspace, documentOf(name)), 'utf8')
  const blocks = [...readme.matchAll(/^```(?:js|ts|ts server)\n(.*?)^```$/gms)]
  return blocks[0]?.[1] as string
}

/** Requests that an example admits, before one is refused. */
export function limitOf(workspace: string, name: string): number {
  return Number(/\blimit: (\d+)/.exec(exampleOf(workspace, name))?.[1])
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
      write(`${name}.cjs`, toCommonJs(source) as string)
    }
  }
}
