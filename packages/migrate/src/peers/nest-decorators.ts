import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf, propertyOf, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationOf, durationText } from '../durations.ts'
import { ELSEWHERE } from '../find-options.ts'
import type { Imports, Use } from '../imports.ts'
import { constantOf, isShort, LOG, numberText, takesLog } from '../numbers.ts'
import { OptionsObject } from '../options-object.ts'
import { removeLines } from '../remove.ts'
import type { Source } from '../source.ts'
import { renameThrottler } from './nest-options.ts'
import { type ModulePolicy, type ThrottlerModule, windowMsOf } from './nest-throttlers.ts'

/** `@Throttle(…)` or `@SkipThrottle(…)`, and what it sets, by the names of throttlers. */
export interface ThrottleDecorator {
  readonly use: Use
  readonly path: NodePath
  /** The class or the method; what is decorated is not seen if it is called in another place. */
  readonly owner: t.Node | undefined
  /** The class of the method. */
  readonly outer: t.Node | undefined
  /** Undefined if it is not seen. */
  readonly skips: ReadonlyMap<string, boolean> | undefined
  readonly limits: ReadonlyMap<string, Override> | undefined
}

/** `{ limit, ttl }`, or `limit, seconds` before version 5. */
interface Override {
  readonly limit: NodePath | undefined
  readonly ttl: NodePath | undefined
  /** Undefined: both are arguments. */
  readonly object?: NodePath<t.ObjectExpression>
}

/** All of a file. */
export function decoratorsOf({ uses }: Imports): ThrottleDecorator[] {
  return uses.flatMap((use) => {
    const isThrottle = use.name === 'Throttle'
    if (!isThrottle && use.name !== 'SkipThrottle') return []
    const { parentPath } = use.path
    const path = parentPath?.isCallExpression() && use.path.key === 'callee' ? parentPath : use.path
    const decorated = path.parentPath?.isDecorator() ? path.parentPath.parent : undefined
    const outer = decorated && path.findParent((each) => each.isClass() && each.node !== decorated)
    const given = path.isCallExpression() ? (path.get('arguments') as NodePath[]) : []
    return [
      {
        use,
        path,
        owner: decorated,
        outer: outer?.node,
        skips: isThrottle ? new Map() : skipsOf(given),
        limits: isThrottle ? limitsOf(given) : new Map(),
      },
    ]
  })
}

function skipsOf([given]: readonly NodePath[]): Map<string, boolean> | undefined {
  if (given === undefined) return new Map([['default', true]])
  const inner = unwrapped(given)
  if (inner.isBooleanLiteral()) return new Map([['default', inner.node.value]])
  return entriesOf(inner, (value) => (value.isBooleanLiteral() ? value.node.value : undefined))
}

function limitsOf([first, ttl]: readonly NodePath[]): Map<string, Override> | undefined {
  if (ttl !== undefined) return new Map([['default', { limit: first, ttl }]])
  return first && entriesOf(unwrapped(first), overrideOf)
}

function overrideOf(object: NodePath): Override | undefined {
  if (!object.isObjectExpression()) return undefined
  return { limit: propertyOf(object, 'limit'), ttl: propertyOf(object, 'ttl'), object }
}

/** The constants of an override. */
function constantsIn(override: Override | undefined) {
  const windowMs = windowMsOf(override?.ttl, override?.object ? 1 : 1000)
  return { limit: constantOf(override?.limit), windowMs }
}

function entriesOf<T>(
  object: NodePath,
  read: (value: NodePath) => T | undefined,
): Map<string, T> | undefined {
  if (!object.isObjectExpression()) return undefined
  const entries = new Map<string, T>()
  for (const each of object.get('properties')) {
    const name = each.isObjectProperty() && !each.node.computed ? nameOf(each.node.key) : undefined
    const value = name === undefined ? undefined : read(unwrapped(each.get('value') as NodePath))
    if (name === undefined || value === undefined) return undefined
    entries.set(name, value)
  }
  return entries
}

/** The decorators of an application, and the module that they are for. */
export interface Decorators {
  readonly source: Source
  readonly imports: Imports
  readonly all: readonly ThrottleDecorator[]
  readonly module: ThrottlerModule | undefined
  /** Where the module is, for a reader of this file. */
  readonly where: string
}

/** Whether it names no throttler that the module has: it changes nothing, there and here. */
export function isIdle({ module }: Decorators, { skips, limits }: ThrottleDecorator): boolean {
  if (module === undefined || skips === undefined || limits === undefined) return false
  const names = new Set(module.policies.map(({ name }) => name))
  return ![...skips.keys(), ...limits.keys()].some((name) => names.has(name))
}

/** Whether only an exemption would be missing where it stays: nothing is weaker then. */
export function skipsAlone({ all }: Decorators, { use, owner }: ThrottleDecorator): boolean {
  const isSkip = use.name === 'SkipThrottle'
  return isSkip && all.every((each) => each.use.name === use.name || each.owner !== owner)
}

const UNSEEN =
  'Which throttlers the module has is not seen. Name the file that has ThrottlerModule.forRoot too, with the names, limits and ttl of all of them in it.'

/** Rewrites a decorator of a handler or a class: it says here what several may say together there. */
export function migrateDecorator(context: Decorators, decorator: ThrottleDecorator): void {
  const { source, imports, all } = context
  const { use, path, owner, outer } = decorator
  if (isIdle(context, decorator)) {
    source.leave(
      `It names no throttler of ${context.where}, so it changes nothing, there and here. Remove it.`,
    )
  }
  const own = owner === undefined ? [decorator] : all.filter((each) => each.owner === owner)
  const ofClass = outer === undefined ? [] : all.filter((each) => each.owner === outer)
  const together = [...own, ...ofClass]
  if (together.some(({ skips, limits }) => skips === undefined || limits === undefined)) {
    source.leave(ELSEWHERE)
  }
  imports.drop(use)
  if (own[0] !== decorator) {
    removeLines(source, path.parentPath?.node as t.Node)
    return
  }
  const policies = policiesFor(context, together)
  const isSkipped = ({ name }: ModulePolicy) =>
    together.find(({ skips }) => skips?.has(name))?.skips?.get(name) === true
  const kept = policies.filter((each) => !isSkipped(each))
  if (kept.length === 0) {
    source.replace(path.node, `${imports.local('SkipRateLimit')}()`)
    if (context.module === undefined) source.noteCall(DIFFERENCES.nestSkip)
    return
  }
  const isChanged = together.some(({ limits }) => kept.some(({ name }) => limits?.has(name)))
  const isSame = kept.length === policies.length && !isChanged
  const text = isSame ? '{}' : optionsText(context, own, ofClass, kept)
  source.replace(path.node, `${imports.local('RateLimit')}(${text})`)
}

/** The policies that a handler has: those of the module, or the only one, if there is no other name. */
function policiesFor(
  { source, module, where }: Decorators,
  together: readonly ThrottleDecorator[],
): readonly ModulePolicy[] {
  const names = together.flatMap(({ limits = new Map() }) => [...limits.keys()])
  if (module !== undefined) {
    const unknown = names.find((name) => !module.policies.some((each) => each.name === name))
    if (unknown !== undefined) {
      source.leave(
        `${where} has no throttler named ${unknown}, so it has no effect there. Remove ${unknown} here.`,
      )
    }
    return module.policies
  }
  const skipped = together.flatMap(({ skips = new Map() }) => [...skips.keys()])
  if ([...names, ...skipped].some((name) => name !== 'default')) source.leave(UNSEEN)
  source.noteCall(DIFFERENCES.nestTogether)
  return [{ name: 'default', limit: undefined, windowMs: undefined }]
}

function optionsText(
  context: Decorators,
  own: readonly ThrottleDecorator[],
  ofClass: readonly ThrottleDecorator[],
  kept: readonly ModulePolicy[],
): string {
  const { source, module } = context
  const texts = kept.map((policy) => policyText(context, own, ofClass, policy))
  if (module === undefined) source.noteCall(DIFFERENCES.nestReplaces)
  const [only] = kept
  const isSole = (module?.policies.length ?? 1) === 1 && only?.name === 'default'
  if (isSole) return texts[0] as string
  const named = texts.map((text, i) => text.replace(/^\{\s*/, `{ name: '${kept[i]?.name}', `))
  return `{ policies: [${named.join(', ')}] }`
}

/** Returns the policy of a handler: its own numbers before those of its class, and these before the module's. */
function policyText(
  context: Decorators,
  own: readonly ThrottleDecorator[],
  ofClass: readonly ThrottleDecorator[],
  policy: ModulePolicy,
): string {
  const { source, where } = context
  const { name } = policy
  const [mine, outer] = [own, ofClass].map((some) =>
    some.find(({ limits }) => limits?.has(name))?.limits?.get(name),
  )
  const ofOuter = constantsIn(outer)
  const { limit = policy.limit, windowMs = policy.windowMs } = ofOuter
  if (mine?.object !== undefined) {
    const options = new OptionsObject(source, mine.object)
    const isWhole = options.has('limit') && options.has('ttl')
    if (!isWhole && (limit === undefined || windowMs === undefined))
      leaveUnknown(source, name, where)
    renameThrottler(options, limit)
    if (!options.has('ttl')) options.add(['window', durationText(windowMs as number)])
    options.finish()
    return source.current(mine.object.node)
  }
  if (mine !== undefined) return positionalText(source, mine)
  if (outer !== undefined && (ofOuter.limit ?? ofOuter.windowMs) === undefined) {
    leaveUnknown(source, name, 'the class')
  }
  if (limit === undefined || windowMs === undefined) return leaveUnknown(source, name, where)
  const log = isShort(limit) ? `, ${LOG.join(': ')}` : ''
  return `{ limit: ${limit}, window: ${durationText(windowMs)}${log} }`
}

function leaveUnknown(source: Source, name: string, where: string): never {
  return source.leave(
    `@RateLimit replaces all policies, and the numbers of ${name} in ${where} are not constant. List all policies here: @RateLimit({ policies: [{ name, limit, window }] }).`,
  )
}

/** `limit, seconds` */
function positionalText(source: Source, { limit, ttl }: Override): string {
  const [count, seconds] = [limit, ttl] as [NodePath, NodePath]
  const text = numberText(source, count, source.original(count.node))
  const log = takesLog(source, count) ? `, ${LOG.join(': ')}` : ''
  return `{ limit: ${text}, window: ${durationOf(source, seconds, 1000)}${log} }`
}
