// Applications of several files: what is known of one decides how another is rewritten.

import { describe, expect, it } from '@jest/globals'
import { migrateFiles } from './migrate-text.ts'
import { parseFile } from './parse.ts'

/** @param files texts, by their names */
function migrated(files: Readonly<Record<string, string>>) {
  const parsed = Object.entries(files).map(([name, text]) => parseFile(text, name))
  const all = migrateFiles(parsed)
  return Object.fromEntries(parsed.map(({ name }, i) => [name, all[i]])) as Record<
    string,
    (typeof all)[number]
  >
}

const nestModule = (throttlers: string, rest = '') => `import { Module } from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'

@Module({
  imports: [ThrottlerModule.forRoot([${throttlers}])],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
export class AppModule {}
${rest}`

const TWO = "{ name: 'short', ttl: 1000, limit: 3 }, { name: 'long', ttl: 60_000, limit: 100 }"

const controller = (
  decorators: string,
  ofClass = '',
) => `import { Controller, Get } from '@nestjs/common'
import { SkipThrottle, Throttle } from '@nestjs/throttler'

${ofClass}
@Controller()
export class Pages {
  ${decorators}
  @Get()
  page() {}
}
`

/** The decorators of a controller, behind those of its class. */
function decorators(throttlers: string, text: string, ofClass = ''): string {
  const files = migrated({
    'src/app.module.ts': nestModule(throttlers),
    'src/pages/pages.ts': controller(text, ofClass),
  })
  const { text: result = '', left = [] } = files['src/pages/pages.ts'] ?? {}
  expect(left).toEqual([])
  expect(result).not.toContain("from '@nestjs/throttler'")
  return [...result.matchAll(/^ *@(?:RateLimit|SkipRateLimit)\(.*$/gm)]
    .map(([line]) => line.trim())
    .join(' ')
}

const SHORT = "{ name: 'short', limit: 1, window: '5s', algorithm: 'sliding-log' }"
const LONG = "{ name: 'long', limit: 100, window: '1m', algorithm: 'sliding-log' }"

describe('@nestjs/throttler: a handler keeps what the module in another file says', () => {
  it.each([
    [
      TWO,
      '@Throttle({ short: { limit: 1, ttl: 5000 } })',
      '',
      `@RateLimit({ policies: [${SHORT}, ${LONG}] })`,
    ],
    [TWO, '@SkipThrottle({ short: true })', '', `@RateLimit({ policies: [${LONG}] })`],
    [TWO, '@SkipThrottle({ short: true, long: true, other: true })', '', '@SkipRateLimit()'],
    [
      TWO,
      '@SkipThrottle({ long: true })\n  @Throttle({ short: { limit: 1, ttl: 5000 } })',
      '',
      `@RateLimit({ policies: [${SHORT}] })`,
    ],
    [
      TWO,
      '@Throttle({ short: { limit: 1, ttl: 5000 } })',
      '@SkipThrottle({ long: true })',
      `@RateLimit({ policies: [{ name: 'short', limit: 3, window: '1s', algorithm: 'sliding-log' }] }) @RateLimit({ policies: [${SHORT}] })`,
    ],
    [
      TWO,
      '@SkipThrottle({ long: false })',
      '@SkipThrottle({ short: true, long: true })',
      `@SkipRateLimit() @RateLimit({ policies: [${LONG}] })`,
    ],
    [
      TWO,
      '@Throttle({ short: { ttl: 5000 } })',
      '@Throttle({ short: { limit: 1, ttl: 900 } })',
      `@RateLimit({ policies: [{ name: 'short', limit: 1, window: '900ms', algorithm: 'sliding-log' }, ${LONG}] }) @RateLimit({ policies: [{ name: 'short', window: '5s', limit: 1, algorithm: 'sliding-log' }, ${LONG}] })`,
    ],
    [
      "{ name: 'general', ttl: minutes(15), limit: 100 }",
      '@SkipThrottle({ general: true })',
      '',
      '@SkipRateLimit()',
    ],
    ['{ ttl: 60_000, limit: 100 }', '@SkipThrottle()', '', '@SkipRateLimit()'],
    [
      '{ ttl: 60_000, limit: 100 }',
      '@Throttle({ default: { limit: 5, ttl: 60_000 } })',
      '@SkipThrottle()',
      '@SkipRateLimit() @SkipRateLimit()',
    ],
  ])('module %s, handler %s, class %s', (throttlers, handler, ofClass, expected) => {
    expect(decorators(throttlers, handler, ofClass)).toBe(expected)
  })

  it('and stays where its numbers are made at run time: then so does the module', () => {
    const files = migrated({
      'src/app.module.ts': nestModule(
        "{ name: 'short', ttl: 1000, limit: 3 }, { name: 'long', ttl: 1000, limit: env.LONG }",
      ),
      'src/pages.ts': controller('@Throttle({ short: { limit: 1, ttl: 5000 } })'),
    })
    expect(files['src/pages.ts']?.left[0]?.reason).toContain(
      '@RateLimit replaces all policies, and the numbers of long in ./app.module.ts are not constant.',
    )
    const [module] = files['src/app.module.ts']?.left ?? []
    expect(module?.reason).toContain(
      'It works only together with ./pages.ts:10, which stays. There: @RateLimit replaces',
    )
  })

  it('stays where the options of its module are made in another file', () => {
    const options = `import { ThrottlerModuleOptions } from '@nestjs/throttler'
export const throttling = (): ThrottlerModuleOptions => [{ ttl: 60000, limit: 5 }]
`
    const files = migrated({ 'throttling.ts': options, 'pages.ts': controller('@SkipThrottle()') })
    expect(files['throttling.ts']?.left[0]?.reason).toContain(
      'these options are for a module in another file. Write them for RateLimitModule',
    )
    expect(files['pages.ts']?.rewritten).toBe(0)
  })

  it('a guard whose module is not seen says that both are to be rewritten', () => {
    const guard = `import { APP_GUARD } from '@nestjs/core'
import { ThrottlerGuard } from '@nestjs/throttler'
export const providers = [{ provide: APP_GUARD, useClass: ThrottlerGuard }]
`
    const said = 'the file that has the module has to be rewritten too'
    expect(migrated({ 'guard.ts': guard })['guard.ts']?.text).toContain(said)
    const both = migrated({ 'guard.ts': guard, 'app.module.ts': nestModule(TWO) })
    expect(both['guard.ts']?.text).not.toContain(said)
  })

  it('stays where the module is not seen, or does not have the name', () => {
    const alone = migrated({ 'pages.ts': controller('@Throttle({ short: { limit: 1, ttl: 5 } })') })
    expect(alone['pages.ts']?.left[0]?.reason).toContain(
      'Name the file that has ThrottlerModule.forRoot too',
    )
    const other = migrated({
      'app.module.ts': nestModule(TWO),
      'pages.ts': controller('@Throttle({ default: { limit: 1, ttl: 5000 } })'),
    })
    expect(other['app.module.ts']).toMatchObject({ left: [], rewritten: 1 })
    expect(other['pages.ts']?.left).toEqual([
      { line: 7, reason: expect.stringContaining('It names no throttler of ./app.module.ts') },
    ])
  })

  it('stays where a file exports the decorators again, which others import from there', () => {
    const files = migrated({
      'app.module.ts': nestModule(TWO),
      'throttle.ts': "export { Throttle } from '@nestjs/throttler'\n",
      'pages.ts': controller('@Throttle({ short: { limit: 1, ttl: 5000 } })').replace(
        '@nestjs/throttler',
        './throttle.js',
      ),
    })
    expect(files['throttle.ts']?.left[0]?.reason).toContain('Other files use @nestjs/throttler')
    expect(files['app.module.ts']).toMatchObject({
      rewritten: 0,
      left: [{ reason: expect.stringContaining('together with ./throttle.ts:3') }],
    })
  })

  it.each([
    [
      'getTracker(req) {\n    return req.user.id\n  }',
      'getTracker: write key: (request) => … with what it returns in RateLimitModule.forRoot in ./app.module.ts, and use RateLimitGuard in place of this class',
    ],
    ['canActivate(context) {\n    return super.canActivate(context)\n  }', 'canActivate: '],
    ['generateKey() {\n    return "all"\n  }', 'generateKey: '],
    ['errorMessage = "Slow down"', 'errorMessage: '],
    ['whatever() {}', 'whatever: '],
  ])('a guard with %s stays, and says what to write', (member, reason) => {
    const files = migrated({
      'app.module.ts': nestModule(TWO),
      'guard.ts': `import { ThrottlerGuard } from '@nestjs/throttler'
export class OwnGuard extends ThrottlerGuard {
  ${member}
}
`,
    })
    expect(files['guard.ts']?.left[0]?.reason).toContain(reason)
    expect(files['app.module.ts']?.left[0]?.reason).toContain(`which stays. There: ${reason}`)
  })

  it.each([
    'req.ip',
    'req.ips.length ? req.ips[0] : req.ip',
    'Promise.resolve(req.ip)',
    "req.ip ?? 'unknown'",
  ])('a guard that counts by %s counts by the default', (address) => {
    const { text, left } = migrated({
      'guard.ts': `import { ThrottlerGuard } from '@nestjs/throttler'
export class OwnGuard extends ThrottlerGuard {
  protected async getTracker(req: Record<string, any>): Promise<string> {
    return ${address}
  }
}
`,
    })['guard.ts'] as { text: string; left: readonly unknown[] }
    expect(left).toEqual([])
    expect(text).toContain('class OwnGuard extends RateLimitGuard {\n}')
  })
})

describe('@fastify/rate-limit: the file that registers the plugin decides', () => {
  const plugin = (options: string, rest = '') =>
    `app.register(require('@fastify/rate-limit'), { max: 5, ${options} })\n${rest}`
  const hook = "app.get('/', { onRequest: app.rateLimit({ max: 2, timeWindow: 60000 }) }, page)\n"

  it('whether a hook in another file has to limit what the plugin exempts', () => {
    const off = migrated({ 'main.js': plugin('global: false'), 'routes.js': hook })
    expect(off['routes.js']?.text).toContain('skip: () => false')
    const on = migrated({ 'main.js': plugin('global: true'), 'routes.js': hook })
    expect(on['routes.js']?.text).toContain(
      "app.rateLimit.hook({ limit: 2, window: '1m', algorithm",
    )
    const alone = migrated({ 'routes.js': hook })
    expect(alone['routes.js']?.left[0]?.reason).toContain('Name the file that registers it too.')
  })

  it('whether config.rateLimit of another file has its options', () => {
    const route = "app.get('/', { config: { rateLimit: LIMIT } }, page)\n"
    const own = migrated({
      'main.js': plugin(''),
      'routes.js': `const LIMIT = { max: 2, timeWindow: 60000 }\n${route}`,
    })
    expect(own['routes.js']?.text).toContain("const LIMIT = { limit: 2, window: '1m'")
    const foreign = migrated({
      'main.js': plugin(''),
      'routes.js': `import { LIMIT } from './limits'\n${route}`,
    })
    expect(foreign['routes.js']?.left[0]?.reason).toContain(
      'Some of its options are made or read elsewhere',
    )
    expect(foreign['main.js']).toMatchObject({ rewritten: 0, left: [{ line: 1 }] })
    expect(
      migrated({ 'a.js': "app.get('/', { config: { rateLimit: false } }, page)\n" })['a.js']?.left,
    ).toEqual([])
  })

  it.each([
    ['(_, context) => new Error(context.after)', '(decision, _) => { throw new Error('],
    ['() => ({ statusCode: 403 })', '(decision) => { throw { statusCode: 403 } }'],
    ['() => { return new Limited() }', '(decision) => { throw new Limited() }'],
    ['() => ({ error: 1 })', '(decision) => ({ error: 1 })'],
  ])('errorResponseBuilder: %s becomes %s', (builder, respond) => {
    const { text } = migrated({ 'a.js': plugin(`errorResponseBuilder: ${builder}`) })['a.js'] as {
      text: string
    }
    expect(text).toContain(`respond: ${respond}`)
  })

  it('when a ban is reported: where it begins', () => {
    const { text } = migrated({ 'a.js': plugin('onBanReach: (request) => warn(request.ip)') })[
      'a.js'
    ] as { text: string }
    expect(text).toContain('if (decision.ban?.began) (')
  })

  it('whether an error handler gets what is sent', () => {
    const files = migrated({
      'main.js': plugin('errorResponseBuilder: () => ({ error: 1 })'),
      'errors.js': 'app.setErrorHandler(render)\n',
    })
    expect(files['main.js']?.text).toContain('respond: (decision) => { throw { error: 1 } }')
  })

  it('what happens while Redis is away', () => {
    const text = (options: string) =>
      migrated({ 'a.js': plugin(`redis, ${options}`) })['a.js']?.text
    expect(text('skipOnError: false')).toContain("store: redis, onStoreError: 'deny'")
    expect(text('skipOnError: true')).toContain("store: redis, onStoreError: 'allow'")
    expect(text('')).not.toContain("onStoreError: '")
  })
})
