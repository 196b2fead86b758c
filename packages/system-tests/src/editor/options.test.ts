import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from '@jest/globals'
import { OPTION_NAMES } from '../../../core/src/options/option-names.ts'
import { filesOf, root } from '../files.ts'
import { Editor } from './service.ts'

const { limiter, policy, http, httpPolicy } = OPTION_NAMES

interface Place {
  /** What a program begins with. */
  readonly imports: string
  /** The call, with its options in place of `¦`. */
  readonly call: string
  /** The type of its options, and where it has one. */
  readonly type: string
  readonly names: readonly string[]
  readonly inPolicies: readonly string[]
}

const ROUTED = { call: 'rateLimit(¦)', type: 'RateLimitOptions', names: [...http, 'routes'] }
const PLACES: Readonly<Record<string, Place>> = {
  core: {
    imports: "import { createLimiter, type LimiterOptions } from '@sluice/core'",
    call: 'createLimiter(¦)',
    type: 'LimiterOptions',
    names: limiter,
    inPolicies: policy,
  },
  express: { imports: importsOf('express'), ...ROUTED, inPolicies: httpPolicy },
  fastify: {
    imports: `${importsOf('fastify')}\nimport fastify from 'fastify'`,
    call: 'fastify().register(rateLimit, ¦)',
    type: 'RateLimitOptions',
    names: [...http, 'hook'],
    inPolicies: httpPolicy,
  },
  hono: {
    ...ROUTED,
    imports: importsOf('hono'),
    names: [...ROUTED.names, 'address'],
    inPolicies: httpPolicy,
  },
  koa: { imports: importsOf('koa'), ...ROUTED, inPolicies: httpPolicy },
  nest: {
    imports: "import { RateLimitModule, type RateLimitOptions } from '@sluice/nest'",
    call: 'RateLimitModule.forRoot(¦)',
    type: 'RateLimitOptions',
    names: http,
    inPolicies: httpPolicy,
  },
  node: { imports: importsOf('node'), ...ROUTED, inPolicies: httpPolicy },
}

/** Each adapter that has them explains them by its framework's own words. */
const OF_ADAPTERS = ['routes', 'hook', 'address']

function importsOf(framework: string): string {
  return `import { rateLimit, type RateLimitOptions } from '@sluice/${framework}'`
}

/** What the pages of options begin with about each option, by its name; a policy and a limiter have a `name` each. */
const documented = new Map<string, string[]>()
for (const page of filesOf('docs/options*.md')) {
  const text = readFileSync(join(root, page), 'utf8')
  for (const [, name = '', first = ''] of text.matchAll(/^### `(\w+)`\n\n([^.\n]*)/gm))
    documented.set(name, [...(documented.get(name) ?? []), first.replace(/\]\([^)]*/g, '')])
}

describe.each(Object.entries(PLACES))(
  'in %s',
  (place, { imports, call, type, names, inPolicies }) => {
    const editor = new Editor(place)
    const written = (options: string) => `${imports}\n${call.replace('¦', options)}`

    test.each([
      ['options', '{ ¦ }', names],
      ['an entry of policies', '{ policies: [{ ¦ }] }', inPolicies],
    ])('an editor offers all of %s, and explains them', (_, options, expected) => {
      const program = written(options)
      expect(editor.offered(program)).toEqual(expect.arrayContaining([...expected]))
      const shown = Object.entries(editor.hovers(program, expected))
      // Fastify takes a function in place of the options, and a function has a name.
      const explained = shown.filter(([name]) => place !== 'fastify' || name !== 'name')
      for (const [name, text] of explained) {
        const known = OF_ADAPTERS.includes(name) ? [''] : (documented.get(name) ?? [])
        expect({ name, text, known: known.some((each) => text.includes(each)) }).toEqual({
          name,
          text: expect.stringMatching(/\w/),
          known: true,
        })
        // A link to a page beside this one leads nowhere from an editor.
        expect(text).not.toMatch(/\]\((?!https:)/)
      }
    })

    it('can be wrapped', () => {
      const wrapped = `
      export const some = (o: Partial<${type}>) => ${call.replace('¦', "{ limit: 15, window: '5m', ...o }")}
      export const without = (o: Omit<${type}, 'limit'>) => ${call.replace('¦', '{ ...o, limit: 15 }')}
      export interface Own extends ${type} { team: string }
      export const own = ({ team, ...o }: Own) => ${call.replace('¦', 'o')}`
      const passed = `export const passed = (o: Parameters<typeof ${call.split('(')[0]}>[0]) => ${call.replace('¦', 'o')}`
      const program = `${imports}\n${wrapped}\n${place === 'fastify' ? '' : passed}`
      expect(editor.problems(program)).toEqual([])
    })

    test.each([
      ["{ limit: '5', window: '1m' }", /^Type 'string' is not assignable to type 'number/],
      [
        '{ limit: 5, window: process.env.WINDOW }',
        /^Type 'string \| undefined' is not assignable to type '.*Duration/,
      ],
      [
        "{ limit: 5, windw: '1m' }",
        /but 'windw' does not exist in type .*Did you mean to write 'window'\?$/,
      ],
      [
        "{ limit: 5, window: '1m', algorithm: 'gcra' }",
        /^Type '"gcra"' is not assignable to type '"sliding-window" \| "fixed-window"/,
      ],
    ])('the compiler says of %s what is wrong', (options, line) => {
      expect(editor.problems(`${imports}\nexport const o: ${type} = ${options}`)).toEqual([
        expect.stringMatching(line),
      ])
    })
  },
)

test('a function can have the type of request that an application has, in Express and in Hono', () => {
  const express = `${PLACES.express?.imports}
    import type { Request } from 'express'
    interface AuthedRequest extends Request { user: { id: string } }
    export const limit = rateLimit({ limit: 5, window: '1m', key: (r: AuthedRequest) => r.user.id, cost: () => 2 })`
  expect(new Editor('express').problems(express)).toEqual([])
  const hono = `${PLACES.hono?.imports}
    import { Hono } from 'hono'
    type App = { Variables: { userId: string } }
    export const app = new Hono<App>().use(rateLimit<App>({ limit: 5, window: '1m', key: (c) => c.get('userId') }))
    export const any = rateLimit({ limit: 5, window: '1m', key: (c) => c.get('userId') })
    export const wrong = rateLimit<App>({ limit: 5, window: '1m', key: (c) => c.get('user') })`
  expect(new Editor('hono').problems(hono)).toEqual(['No overload matches this call.'])
})
