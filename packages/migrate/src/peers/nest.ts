import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf, resolved, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { helperMs } from '../durations.ts'
import { isInlineFunction } from '../functions.ts'
import { Imports, type Use } from '../imports.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { migrateModuleOptions, migrateThrottlers } from './nest-options.ts'
import { redisStorageOf } from './nest-storage.ts'
import type { Peer } from './peer.ts'

const NAMES: Readonly<Record<string, string>> = {
  ThrottlerModule: 'RateLimitModule',
  ThrottlerGuard: 'RateLimitGuard',
  ThrottlerException: 'RateLimitException',
  SkipThrottle: 'SkipRateLimit',
  Throttle: 'RateLimit',
}
const TYPES: Readonly<Record<string, string>> = {
  ThrottlerModuleOptions: 'RateLimitOptions',
  ThrottlerAsyncOptions: 'RateLimitAsyncOptions',
}
export const nestThrottler: Peer = {
  name: '@nestjs/throttler',
  sluice: '@sluice/nest',
  migrate(source) {
    const imports = new Imports(source, '@nestjs/throttler', '@sluice/nest')
    if (!imports.isUsed) return false
    const storages = redisStorageOf(source)
    for (const use of imports.uses) migrateUse(source, imports, storages, use)
    for (const use of imports.uses) replaceHelper(source, imports, use)
    const rest = imports.finish()
    for (const storage of storages) storage.finish()
    const [first] = source.program.get('body')
    if (rest.length > 0 && first) {
      source.note(
        first,
        `@nestjs/throttler is still used for ${rest.join(', ')}, which Sluice has nothing in place of.`,
      )
    }
    return true
  },
}

function migrateUse(
  source: Source,
  imports: Imports,
  storages: readonly Imports[],
  use: Use,
): void {
  const { path, name } = use
  const type = TYPES[name]
  if (type !== undefined) imports.replace(use, type, true)
  if (name === 'Throttle') migrateThrottle(source, path)
  if (name === 'SkipThrottle' && migrateSkip(source, imports, use)) return
  if (name in NAMES) imports.replace(use, NAMES[name] as string)
  if (name === 'ThrottlerModule') migrateModule(source, storages, path)
  if (name === 'ThrottlerGuard' && path.parentPath?.isClass()) {
    source.note(
      path.parentPath,
      'the guard has other methods here: set key in the options in place of getTracker, and override getRequest in place of getRequestResponse. An exception filter for RateLimitException takes the place of throwThrottlingException.',
    )
  }
  if (name === 'ThrottlerException' && path.parentPath?.isNewExpression()) {
    source.note(
      path,
      'throw an HttpException with the status 429: RateLimitException is made of a decision.',
    )
  }
}

/** `ThrottlerModule.forRoot(options)` and `forRootAsync({ useFactory })`. */
function migrateModule(source: Source, storages: readonly Imports[], path: NodePath): void {
  const member = path.parentPath
  const call = member?.parentPath
  if (!member?.isMemberExpression() || !call?.isCallExpression()) return
  const [given] = call.get('arguments')
  if (given === undefined) return
  source.note(call, DIFFERENCES.window('@nestjs/throttler'))
  source.note(call, DIFFERENCES.nestShared)
  if (nameOf(member.node.property) === 'forRoot') {
    migrateModuleOptions(source, storages, given as NodePath)
    return
  }
  const options = resolved(given as NodePath)
  const factory = options.isObjectExpression()
    ? new OptionsObject(source, options).value('useFactory')
    : undefined
  if (!isInlineFunction(factory)) {
    source.note(
      call,
      'forRootAsync takes useFactory, inject and imports. Let useFactory return { limit, window }.',
    )
    return
  }
  for (const result of resultsOf(factory)) migrateModuleOptions(source, storages, result)
}

function resultsOf(fn: NodePath<t.Function>): NodePath[] {
  const body = fn.get('body') as NodePath
  if (!body.isBlockStatement()) return [body]
  const results: NodePath[] = []
  body.traverse({
    Function(inner) {
      inner.skip()
    },
    ReturnStatement(statement) {
      const argument = statement.get('argument') as NodePath
      if (argument.node) results.push(argument)
    },
  })
  return results
}

/** `@Throttle({ default: { limit, ttl } })`. */
function migrateThrottle(source: Source, path: NodePath): void {
  const call = path.parentPath
  if (!call?.isCallExpression()) return
  const [given] = call.get('arguments')
  const object = given && unwrapped(given as NodePath)
  if (!object?.isObjectExpression()) {
    source.note(call, '@RateLimit takes an object: { limit, window }.')
    return
  }
  migrateThrottlers(source, object)
}

/** @returns whether the use is replaced: `@SkipThrottle({ default: false })` limits again */
function migrateSkip(source: Source, imports: Imports, use: Use): boolean {
  const call = use.path.parentPath
  if (!call?.isCallExpression()) return false
  const [given] = call.get('arguments')
  if (!given?.isObjectExpression()) return false
  const values = given.get('properties')
  const isLimited = values.every(
    (each) =>
      each.isObjectProperty() && (each.get('value') as NodePath).isBooleanLiteral({ value: false }),
  )
  if (isLimited) {
    imports.drop(use)
    source.replace(call.node, `${imports.local('RateLimit')}({})`)
    return true
  }
  if (
    values.length > 1 ||
    nameOf((given.node.properties[0] as t.ObjectProperty).key) !== 'default'
  ) {
    source.note(
      call,
      '@SkipRateLimit exempts from every policy. To keep some, list them: @RateLimit({ policies: [{ name, limit, window }] }).',
    )
  }
  imports.drop(use)
  source.replace(call.node, `${imports.local('SkipRateLimit')}()`)
  return true
}

/** `minutes(n)` where no text took its place. */
function replaceHelper(source: Source, imports: Imports, use: Use): void {
  const unit = helperMs(use.name)
  const call = use.path.parentPath
  if (unit === undefined || !call?.isCallExpression()) return
  imports.drop(use)
  const [argument] = call.node.arguments
  if (source.isReplaced(call.node) || argument === undefined) return
  source.replace(call.node, `(${source.original(argument)}) * ${unit}`)
}
