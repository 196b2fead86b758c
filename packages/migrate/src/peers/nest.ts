import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { isParenthesized, nameOf, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf, helperMs } from '../durations.ts'
import { ownValue } from '../find-options.ts'
import { isInlineFunction, resultsOf } from '../functions.ts'
import { Imports, type Use } from '../imports.ts'
import { numberText, takesLog } from '../numbers.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { migrateModuleOptions, migrateThrottlers } from './nest-options.ts'
import { redisStorageOf } from './nest-storage.ts'
import type { Peer } from './peer.ts'

const MODULE = '@nestjs/throttler'
const NAMES: Readonly<Record<string, string>> = {
  ThrottlerModule: 'RateLimitModule',
  ThrottlerGuard: 'RateLimitGuard',
  ThrottlerException: 'RateLimitException',
}
const TYPES: Readonly<Record<string, string>> = {
  ThrottlerModuleOptions: 'RateLimitOptions',
  ThrottlerAsyncOptions: 'RateLimitAsyncOptions',
}
const DECORATORS = ['Throttle', 'SkipThrottle']

export const nestThrottler: Peer = {
  name: MODULE,
  sluice: '@sluice/nest',
  migrate(source: Source) {
    const imports = new Imports(source, MODULE, '@sluice/nest')
    if (!imports.isUsed) return false
    const storages = redisStorageOf(source)
    const calls = new Map<NodePath, () => void>()
    for (const use of imports.uses) {
      const path = callPathOf(use)
      if (use.name === 'SkipThrottle' || path === undefined) continue
      calls.set(path, () => migrateUse(source, imports, storages, use, path))
    }
    source.migrateJointly(MODULE, calls)
    const isNamed = policiesOf(source).length > 0
    const skips = new Map<NodePath, () => void>()
    for (const use of imports.uses) {
      const path = callPathOf(use)
      if (use.name !== 'SkipThrottle' || path === undefined) continue
      skips.set(path, () => migrateSkip(source, imports, use, path, isNamed))
    }
    source.migrateJointly(MODULE, skips, false)
    if (source.isStaying(MODULE)) return true
    for (const use of imports.uses) replaceName(source, imports, use)
    const rest = imports.finish()
    for (const storage of storages) storage.finish()
    const [first] = source.program.get('body')
    if (rest.length > 0 && first && !rest.every((name) => name === 'SkipThrottle')) {
      source.note(
        first,
        `@nestjs/throttler is still used for ${rest.join(', ')}, which Sluice has nothing in place of.`,
      )
    }
    return true
  },
}

/** What is rewritten, or stays, as a whole: a module, a decorator, a class, the use of another name. */
function callPathOf({ path, name }: Use): NodePath | undefined {
  const { parentPath } = path
  if (name in TYPES || helperMs(name) !== undefined || name === 'ThrottlerException')
    return undefined
  if (DECORATORS.includes(name)) return parentPath?.isCallExpression() ? parentPath : path
  if (name === 'ThrottlerModule') {
    const call = parentPath?.isMemberExpression() ? parentPath.parentPath : null
    return call?.isCallExpression() ? call : undefined
  }
  if (name !== 'ThrottlerGuard') return path
  return parentPath?.isClass() ? parentPath : undefined
}

function migrateUse(
  source: Source,
  imports: Imports,
  storages: readonly Imports[],
  use: Use,
  path: NodePath,
): void {
  const { name } = use
  if (name === 'ThrottlerModule') {
    migrateModule(source, imports, storages, path as NodePath<t.CallExpression>)
  } else if (name === 'Throttle') migrateThrottle(source, imports, use, path)
  else if (!path.isClass()) source.leave(`${name}: Sluice has nothing in its place.`)
  else if (path.node.body.body.length > 0) {
    source.leave(
      'The guard has other methods here: key in the options takes the place of getTracker, getRequest that of getRequestResponse, and an exception filter for RateLimitException that of throwThrottlingException.',
    )
  }
}

/** Names of which nothing else is rewritten. */
function replaceName(source: Source, imports: Imports, use: Use): void {
  const { path, name } = use
  const type = TYPES[name]
  if (type !== undefined) imports.replace(use, type, true)
  else if (helperMs(name) !== undefined) replaceHelper(source, imports, use)
  // What is thrown is made of a decision here.
  else if (name in NAMES && !path.parentPath?.isNewExpression()) {
    imports.replace(use, NAMES[name] as string)
  }
}

/** `ThrottlerModule.forRoot(options)` and `forRootAsync({ useFactory })`. */
function migrateModule(
  source: Source,
  imports: Imports,
  storages: readonly Imports[],
  call: NodePath<t.CallExpression>,
): void {
  const { property } = call.node.callee as t.MemberExpression
  const [given] = call.get('arguments') as NodePath[]
  if (given === undefined) source.leave('It has no options. Here limit and window are required.')
  if (!imports.uses.some((each) => each.name === 'ThrottlerGuard')) {
    source.note(call, DIFFERENCES.nestGuard)
  }
  source.note(call, DIFFERENCES.nestShared)
  source.note(call, DIFFERENCES.body)
  if (nameOf(property) === 'forRoot') {
    migrateModuleOptions(source, storages, given)
    return
  }
  const options = ownValue(source, given)
  const factory = options.isObjectExpression()
    ? new OptionsObject(source, options).value('useFactory')
    : undefined
  const results = isInlineFunction(factory) ? resultsOf(factory) : []
  if (results.length === 0) {
    source.leave(
      'forRootAsync takes useFactory, inject and imports. Let useFactory return { limit, window }.',
    )
  }
  for (const result of results) migrateModuleOptions(source, storages, result)
}

/** `@Throttle({ default: { limit, ttl } })`, and before version 5 `@Throttle(limit, seconds)`. */
function migrateThrottle(source: Source, imports: Imports, use: Use, call: NodePath): void {
  const given = call.isCallExpression() ? (call.get('arguments') as NodePath[]) : []
  const [first, second] = given
  imports.replace(use, 'RateLimit')
  const hasModule = imports.uses.some(({ name }) => name === 'ThrottlerModule')
  if (!hasModule) source.noteCall(DIFFERENCES.nestTogether)
  if (first !== undefined && second !== undefined) {
    const limit = numberText(source, first, source.original(first.node))
    const window = durationOf(source, second, 1000)
    const log = takesLog(source, first) ? ", algorithm: 'sliding-log'" : ''
    // Parentheses around a number are not part of it.
    const start = (first.node.extra?.parenStart ?? first.node.start) as number
    const end = isParenthesized(second.node) ? (call.node.end as number) - 1 : second.node.end
    source.replace({ start, end: end as number }, `{ limit: ${limit}, window: ${window}${log} }`)
    return
  }
  const object = first && unwrapped(first)
  if (!object?.isObjectExpression()) {
    source.leave('@RateLimit takes an object: { limit, window }.')
  }
  migrateThrottlers(source, object, policiesOf(source))
}

/** A module, also a migrated one, with what follows it. */
const MODULES = /\b(Throttler|RateLimit)Module\.forRoot[\s\S]*/

/** The names of the policies of the module that the file has, none without such names. */
function policiesOf({ text }: Source): string[] {
  const [module = ''] = MODULES.exec(text) ?? []
  return [...module.matchAll(/\bname\s*:\s*['"`](\w+)/g)].map(([, name]) => name as string)
}

const SKIP =
  'It has no effect here: every policy limits. To keep some, list them: @RateLimit({ policies: [{ name, limit, window }] }).'

/** `@SkipThrottle({ default: false })` limits again. @param isNamed whether policies have names here */
function migrateSkip(
  source: Source,
  imports: Imports,
  use: Use,
  call: NodePath,
  isNamed: boolean,
): void {
  const [given] = call.isCallExpression() ? (call.get('arguments') as NodePath[]) : []
  const skips = given === undefined || skipsDefault(given)
  if (skips === undefined || (skips && isNamed)) source.leave(SKIP)
  if (skips) source.note(call, DIFFERENCES.nestSkip)
  imports.drop(use)
  source.replace(
    call.node,
    skips ? `${imports.local('SkipRateLimit')}()` : `${imports.local('RateLimit')}({})`,
  )
}

/** Whether it exempts from the only policy; undefined: from some of them. */
function skipsDefault(given: NodePath): boolean | undefined {
  const inner = unwrapped(given)
  if (inner.isBooleanLiteral()) return inner.node.value
  if (!inner.isObjectExpression()) return undefined
  const entries = inner.get('properties').map((each) => {
    const value = each.isObjectProperty() ? (each.get('value') as NodePath) : each
    const name = each.isObjectProperty() ? nameOf(each.node.key) : undefined
    return { name, value: value.isBooleanLiteral() ? value.node.value : undefined }
  })
  if (entries.every(({ value }) => value === false)) return false
  return entries.length === 1 && entries[0]?.name === 'default' ? entries[0].value : undefined
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
