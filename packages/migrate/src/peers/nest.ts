import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { helperMs } from '../durations.ts'
import { ownValue } from '../find-options.ts'
import { isInlineFunction, resultsOf } from '../functions.ts'
import type { Imports, Use } from '../imports.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { decoratorsOf, isIdle, migrateDecorator, skipsAlone } from './nest-decorators.ts'
import { migrateGuard } from './nest-guard.ts'
import { migrateModuleOptions } from './nest-options.ts'
import { hasModule, moduleOf } from './nest-throttlers.ts'
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
  migrate(imports: Imports) {
    const { source } = imports
    const { needed, free } = plansOf(imports)
    source.migrateJointly(MODULE, needed)
    source.migrateJointly(MODULE, free, false)
    if (source.isStaying(MODULE)) return
    for (const use of imports.uses) replaceName(imports, use)
    const rest = imports.finish()
    const [first] = source.program.get('body')
    if (rest.length > 0 && first && !rest.every((name) => name === 'SkipThrottle')) {
      source.note(
        first,
        `@nestjs/throttler is still used for ${rest.join(', ')}, which Sluice has nothing in place of.`,
      )
    }
  },
}

const typeElsewhere = (name: string) =>
  `${name}: these options are for a module in another file. Write them for RateLimitModule, with the type ${TYPES[name]}: { limit, window }, or { policies: [{ name, limit, window }] }. Then rewrite that file.`

type Plans = Map<NodePath, () => void>

/** Returns what is rewritten: calls that others need, and calls that may stay alone. */
function plansOf(imports: Imports) {
  const { source } = imports
  const [needed, free]: [Plans, Plans] = [new Map(), new Map()]
  const module = moduleOf(source.files)
  const file = module === undefined || module.file === source.name ? '' : source.pathTo(module.file)
  for (const use of imports.uses) {
    const path = callPathOf(imports, use)
    if (path === undefined || DECORATORS.includes(use.name)) continue
    const where = file && ` in ${file}`
    needed.set(path, () => migrateUse(imports, use, path, where))
  }
  const where = file || 'the module'
  const decorators = { source, imports, all: decoratorsOf(imports), module, where }
  for (const each of decorators.all) {
    const isFree = isIdle(decorators, each) || skipsAlone(decorators, each)
    ;(isFree ? free : needed).set(each.path, () => migrateDecorator(decorators, each))
  }
  return { needed, free }
}

/** The call that is rewritten, or stays, as a whole: a module, a decorator, a class, the use of another name. */
function callPathOf(imports: Imports, { path, name }: Use): NodePath | undefined {
  const { parentPath } = path
  if (name in TYPES)
    return imports.uses.some((each) => each.name === 'ThrottlerModule') ? undefined : path
  if (helperMs(name) !== undefined || name === 'ThrottlerException') return undefined
  if (name === 'ThrottlerModule') {
    const call = parentPath?.isMemberExpression() ? parentPath.parentPath : null
    return call?.isCallExpression() ? call : undefined
  }
  if (name !== 'ThrottlerGuard' || parentPath?.isExportSpecifier()) return path
  return parentPath?.isClass() ? parentPath : undefined
}

function migrateUse(imports: Imports, { name }: Use, path: NodePath, where: string): void {
  const { source } = imports
  if (name === 'ThrottlerModule') migrateModule(imports, path as NodePath<t.CallExpression>)
  else if (path.isClass()) migrateGuard(source, path, where)
  else if (name in TYPES) source.leave(typeElsewhere(name))
  else source.leave(`${name}: Sluice has nothing in its place.`)
}

/** Names of which nothing else is rewritten. */
function replaceName(imports: Imports, use: Use): void {
  const { source } = imports
  const { path, name } = use
  const type = TYPES[name]
  if (type !== undefined) imports.replace(use, type, true)
  else if (helperMs(name) !== undefined) replaceHelper(imports, use)
  // A thrown error is made of a decision here.
  else if (name in NAMES && !path.parentPath?.isNewExpression()) {
    if (name === 'ThrottlerGuard' && !hasModule(source.files))
      source.note(path, DIFFERENCES.nestTogether)
    imports.replace(use, NAMES[name] as string)
  }
}

/** `ThrottlerModule.forRoot(options)` and `forRootAsync({ useFactory })`. */
function migrateModule(imports: Imports, call: NodePath<t.CallExpression>): void {
  const source: Source = imports.source
  const { property } = call.node.callee as t.MemberExpression
  const [given] = call.get('arguments') as NodePath[]
  if (given === undefined) source.leave('It has no options. Here limit and window are required.')
  if (!imports.uses.some((each) => each.name === 'ThrottlerGuard')) {
    source.note(call, DIFFERENCES.nestGuard)
  }
  source.note(call, DIFFERENCES.nestShared)
  source.note(call, DIFFERENCES.body)
  source.note(call, DIFFERENCES.nestFields)
  if (nameOf(property) === 'forRoot') {
    migrateModuleOptions(source, given)
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
  for (const result of results) migrateModuleOptions(source, result)
}

/** `minutes(n)` where no text took its place. */
function replaceHelper(imports: Imports, use: Use): void {
  const { source } = imports
  const unit = helperMs(use.name)
  const call = use.path.parentPath
  if (unit === undefined || !call?.isCallExpression()) return
  const [argument] = call.node.arguments
  if (argument?.type === 'SpreadElement') return
  imports.drop(use)
  if (source.isReplaced(call.node) || argument === undefined) return
  source.replace(call.node, `(${source.original(argument)}) * ${unit}`)
}
