import { describe, expect, it } from '@jest/globals'
import { array, assert, constantFrom, nat, property, tuple } from 'fast-check'
import { migrateText } from './migrate-text.ts'
import { parseProgram } from './parse.ts'
import { names, pathOf, textOf } from './testing/fixtures.ts'
import { MUTATIONS } from './testing/mutations.ts'

/** Throws if what comes out does not parse. */
function expectFixedPoint(text: string, path: string): string {
  const migrated = migrateText(text, path).text
  const again = migrateText(migrated, path).text
  if (again !== migrated) expect({ text, migrated: again }).toEqual({ text, migrated })
  const declared = Object.entries(parseProgram(text, path).scope.bindings)
  const { globals } = parseProgram(migrated, path).scope as unknown as { globals: object }
  // No name has lost its import.
  const lost = declared.filter(([name, { constant }]) => constant && name in globals)
  expect(lost.map(([name]) => name)).toEqual([])
  return migrated
}

function parses(text: string, path: string): boolean {
  try {
    parseProgram(text, path)
    return true
  } catch {
    return false
  }
}

/** What once came out as no program, or changed again. */
const REGRESSIONS = {
  'an option that is given twice':
    "app.get('/', { config: { rateLimit: { max: 5, max: 6, timeWindow: 1000 } } }, handler)",
  'a store that is given twice': `import r from 'express-rate-limit'
import { RedisStore } from 'rate-limit-redis'
r({ store: new RedisStore({ sendCommand: (...args) => a.sendCommand(args) }), store: new RedisStore({ sendCommand: (...args) => a.sendCommand(args) }) })`,
  'two options in the last line that have no place here':
    "import r from 'express-rate-limit'\nr({\n  max: 5,\n  validate: false, logger: console,\n})",
  'commas at the beginning of lines':
    "import r from 'express-rate-limit'\nr({\n  validate: false\n, max: 5\n, skip: () => false\n})",
  'a last comma in a line of its own': "import r from 'express-rate-limit'\nr({\n  max: 5\n,\n})",
  'everything in one line':
    "import { RateLimiterMemory } from 'rate-limiter-flexible'; const l = new RateLimiterMemory({}); l.get(k); l.set(k, 1, 2)",
  'a first line for the system':
    "#!/usr/bin/env node\n/* why */const l = new (require('rate-limiter-flexible').RateLimiterMemory)({}); l.get(k)",
  'types of a module that is required':
    "const { RateLimiterMemory } = require('rate-limiter-flexible')\nconst l: RateLimiterMemory = new RateLimiterMemory({ points: 1, duration: 1 })",
  'two limiters in one function': `const { RateLimiterMemory } = require('rate-limiter-flexible')
const l = new RateLimiterMemory({ points: 1, duration: 1 })
async function limit(key) {
  try { await l.consume(key) } catch { return 1 }
  try { await l.consume(key) } catch { return 2 }
}`,
  'results of the same name': `const { RateLimiterMemory } = require('rate-limiter-flexible')
const l = new RateLimiterMemory({ points: 1, duration: 1 })
async function limit(key) {
  try { const left = await l.consume(key) } catch { return 1 }
  try { const left = await l.consume(key) } catch { return 2 }
}`,
  'a class in parentheses':
    "const r = require('express-rate-limit')\nconst a = new (r)({ max: 1 }), b = new (r)()",
  'arguments that are spread': `import { rateLimit } from 'express-rate-limit'
rateLimit({ max: 1, handler: (req, res, next) => next(...errors) })`,
  'a limiter behind a cast': `import { RateLimiterMemory } from 'rate-limiter-flexible'
const l = new RateLimiterMemory({ points: 1, duration: 1 })
await (l as any).delete(key)
await l./* why */delete(key)
await (l.penalty)(key)
const other = new RateLimiterMemory({ points: 1, insuranceLimiter: (l)! })`,
  'a chain behind parentheses': `import { RateLimiterMemory } from 'rate-limiter-flexible'
const l = new RateLimiterMemory({ points: 1, duration: 1 });
(l.consume(key))
  .then(() => next())
  .catch(() => refuse())`,
  'a function behind a cast': `import { rateLimiter } from 'hono-rate-limiter'
const a = (rateLimiter as any)({ limit: 1 }), b = rateLimiter({ keyGenerator })`,
  'a chain behind a cast': `import { RateLimiterMemory } from 'rate-limiter-flexible'
const l = new RateLimiterMemory({ points: 1, duration: 1 });
(l.consume(key) as any).then(() => next()).catch(() => refuse())`,
  'numbers in parentheses': `import { Throttle } from '@nestjs/throttler'
class Users {
  @Throttle((5), 60) list() {}
  @Throttle(5, ((60))) find() {}
}`,
  'options in parentheses': `import { SkipThrottle, ThrottlerModule } from '@nestjs/throttler'
ThrottlerModule.forRootAsync({ useFactory: () => [{ ttl: 1000, limit: 1 }] as any })
class Users { @SkipThrottle(({ short: true })) list() {} }`,
} as const

describe('a second run changes nothing', () => {
  it('however the file is written', () => {
    const kinds = Object.keys(MUTATIONS) as (keyof typeof MUTATIONS)[]
    const steps = array(tuple(constantFrom(...kinds), nat(100_000)), { minLength: 1, maxLength: 4 })
    const check = property(constantFrom(...names), steps, (name, mutations) => {
      const path = pathOf(name, 'before')
      const text = mutations.reduce(
        (before, [kind, at]) => {
          const after = MUTATIONS[kind](before, path, at)
          return after !== undefined && parses(after, path) ? after : before
        },
        textOf(name, 'before'),
      )
      expectFixedPoint(text, path)
    })
    assert(check, { numRuns: 60, seed: 20, interruptAfterTimeLimit: 4000 })
  })

  it.each(Object.entries(REGRESSIONS))('of %s', (_, text) => {
    expect(expectFixedPoint(text, 'file.ts')).not.toBe(text)
  })
})
