import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import {
  importedFrom,
  memberName,
  nameOf,
  readsOf,
  resolved,
  unwrapped,
  wrapped,
} from '../bindings.ts'
import { ofUpstashResult } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationMs, durationText } from '../durations.ts'
import { ELSEWHERE, leaveUse, ownValue } from '../find-options.ts'
import { memberOf, methodCallOf, replaceExpression } from '../functions.ts'
import { callOf, type Imports, isTypeUse } from '../imports.ts'
import { checkUnknown } from '../option-functions.ts'
import { OptionsObject } from '../options-object.ts'
import { removeFromList, removeLines, removeNew } from '../remove.ts'
import type { Source } from '../source.ts'
import type { Peer } from './peer.ts'
import { renamePrefix } from './redis-store.ts'
import { usesOfValue } from './uses-of-value.ts'

/** The algorithms, and which of their arguments is the limit, the window, and the burst. */
const ALGORITHMS: Readonly<Record<string, readonly [name: string, ...parts: string[]]>> = {
  slidingWindow: ['sliding-window', 'limit', 'window'],
  fixedWindow: ['fixed-window', 'limit', 'window'],
  tokenBucket: ['token-bucket', 'limit', 'window', 'burst'],
}
const INSTEAD: Readonly<Record<string, string>> = {
  blockUntilReady: 'limiter.wait(key, { maxWait }) takes its place, and returns the decision.',
  getRemaining: 'limiter.peek(key) takes its place; its decision has remaining.',
  resetUsedTokens: 'limiter.reset(key) takes its place.',
}
const PASSED_ON =
  'Other code may call this limiter. Rewrite both by hand, in one change: limit(key) is consume(key), success is allowed, and reset is Date.now() + resetMs.'

const CLIENT =
  'redis: store takes a client of @upstash/redis as it is. This file does not show that this is one. If it is, write createLimiter({ store: redis, limit, window, algorithm }), and consume(key) for limit(key).'
const noField = (name: string) => `${name}: a decision has no such field. Remove it first.`

/** Where clients of Upstash's Redis are from. */
const CLIENTS = ['', '/cloudflare', '/nodejs', '/fastly'].map((each) => `@upstash/redis${each}`)

const RESULT =
  'Its result is used as a whole. Write the fields that are needed: allowed for success, limit, remaining, and Date.now() + resetMs for reset.'

type Made = NodePath<t.NewExpression>

export const upstashRatelimit: Peer = {
  name: '@upstash/ratelimit',
  sluice: '@sluice/core',
  migrate(imports: Imports) {
    const { source } = imports
    for (const use of imports.uses) {
      if (isTypeUse(use.path)) continue
      const made = callOf(use)?.call
      if (made?.isNewExpression()) {
        source.migrate(made, () => {
          imports.replace(use, 'createLimiter')
          if (use.name !== 'Ratelimit') source.leave(`${use.name}: Sluice has one region alone.`)
          migrateLimiter(source, imports, made)
        })
      } else if (!isPartOfLimiter(use.path)) {
        source.migrate(use.path, () => leaveUse(source))
      }
    }
    imports.finish()
  },
}

/** `Ratelimit.slidingWindow(…)` */
function isPartOfLimiter(path: NodePath): boolean {
  return path.findParent((each) => each.isNewExpression()) !== null
}

function migrateLimiter(source: Source, imports: Imports, made: Made): void {
  const uses = usesOfValue(made)
  if (uses === undefined) source.leave(PASSED_ON)
  for (const use of uses) rewriteCall(source, use)
  const [given] = made.get('arguments') as NodePath[]
  const object = given && ownValue(source, given)
  if (!object?.isObjectExpression()) source.leave(ELSEWHERE)
  const options = new OptionsObject(source, object)
  if (options.spreads.length > 0) source.leave(ELSEWHERE)
  renameOptions(options)
  removeNew(source, made)
  options.finish()
  source.note(made, DIFFERENCES.upstash)
  source.note(made, DIFFERENCES.upstashFailure)
  const rest = imports.uses.filter(({ path }) => path.isDescendant(object))
  if (!rest.every(({ path }) => source.isReplaced(path.node))) source.leave(ELSEWHERE)
}

function renameOptions(options: OptionsObject): void {
  const redis = options.value('redis')
  const limiter = options.value('limiter')
  if (!isUpstashClient(redis)) options.leave(CLIENT)
  if (limiter === undefined) options.leave(ELSEWHERE)
  renamePrefix(options, 'prefix', ['limiter'])
  options.renameTo('redis', 'store')
  options.replace('limiter', ...algorithmOf(options.source, limiter))
  options.remove('analytics', 'ephemeralCache', 'timeout')
  checkUnknown(options)
}

/** `Redis.fromEnv()`, `new Redis({ url, token })` */
function isUpstashClient(path: NodePath | undefined): boolean {
  const made = path && resolved(path)
  if (!made?.isNewExpression() && !made?.isCallExpression()) return false
  const callee = made.get('callee') as NodePath
  const root = callee.isMemberExpression() ? callee.get('object') : callee
  return CLIENTS.some((module) => importedFrom(root, module) !== undefined)
}

/** `Ratelimit.slidingWindow(10, '10 s')` */
function algorithmOf(source: Source, path: NodePath): (readonly [string, string])[] {
  const call = unwrapped(path)
  const callee = call.isCallExpression() ? call.get('callee') : undefined
  const name = callee?.isMemberExpression() ? memberName(callee) : undefined
  const [algorithm, ...parts] = ALGORITHMS[name ?? ''] ?? []
  if (algorithm === undefined || !call.isCallExpression()) return source.leave(ELSEWHERE)
  const given = call.get('arguments') as NodePath[]
  if (given.length !== parts.length) source.leave(ELSEWHERE)
  const entries = given.map((each, i) => {
    const part = parts[i] as string
    return [part, part === 'window' ? windowText(source, each) : source.current(each.node)] as const
  })
  return [...entries, ['algorithm', `'${algorithm}'`]]
}

/** `'10 s'`, or ms. */
function windowText(source: Source, path: NodePath): string {
  const inner = unwrapped(path)
  const ms = inner.isStringLiteral() ? durationMs(inner.node.value.replace(/\s/g, '')) : undefined
  return ms === undefined ? source.current(path.node) : durationText(ms)
}

/** Rewrites a call of the limiter. Leaves it if its result is used in another way. */
function rewriteCall(source: Source, path: NodePath): void {
  const { call, name } = methodCallOf(path) ?? source.leave(PASSED_ON)
  const [, more] = call.node.arguments
  if (name !== 'limit' || more !== undefined) {
    source.leave(`${name}: ${INSTEAD[name] ?? 'consume(key, { cost }) takes its place.'}`)
  }
  source.replace((call.node.callee as t.MemberExpression).property, 'consume')
  const awaited = wrapped(call).parentPath
  if (!awaited?.isAwaitExpression()) source.leave(RESULT)
  rewriteResult(source, awaited)
}

/** `const { success, reset } = await limiter.limit(key)`, or a constant whose fields are read. */
function rewriteResult(source: Source, awaited: NodePath): void {
  const { parentPath } = wrapped(awaited)
  if (parentPath?.isExpressionStatement()) return
  if (memberOf(awaited)) {
    rewriteField(source, awaited, `(${source.current(awaited.node)})`)
    return
  }
  const id = parentPath?.isVariableDeclarator() ? parentPath.get('id') : undefined
  if (id?.isIdentifier()) {
    for (const each of readsOf(awaited)) rewriteField(source, each, id.node.name)
  } else if (id?.isObjectPattern()) rewritePattern(source, id)
  else source.leave(RESULT)
}

/** @param path where the result is used */
function rewriteField(source: Source, path: NodePath, decision: string): void {
  const { member, name } = memberOf(path) ?? source.leave(RESULT)
  const text = ofUpstashResult(decision)[name] ?? source.leave(noField(name))
  if (name === 'success') source.replace((member.node as t.MemberExpression).property, 'allowed')
  else if (name === 'reset') source.replace(member.node, text)
  else if (name === 'pending') replacePending(source, member, text)
}

/** `waitUntil(pending)` and `await pending` go as a whole. */
function replacePending(source: Source, path: NodePath, text: string): void {
  const statement = path.getStatementParent()
  const only = statement?.isExpressionStatement() && statement.get('expression')
  const isAll =
    only &&
    ((only.isAwaitExpression() && only.node.argument === path.node) ||
      /^[\w.]*\bwaitUntil\([\w.]+\)$/.test(only.toString()))
  if (isAll) removeLines(source, statement.node)
  else replaceExpression(source, path, text)
}

function rewritePattern(source: Source, pattern: NodePath<t.ObjectPattern>): void {
  for (const each of pattern.get('properties')) {
    const isPlain = each.isObjectProperty() && each.node.value.type === 'Identifier'
    const name = isPlain ? nameOf(each.node.key) : undefined
    if (name === undefined) source.leave(RESULT)
    if (!(name in ofUpstashResult(''))) source.leave(noField(name))
    const local = nameOf((each.node as t.ObjectProperty).value) as string
    const { referencePaths = [] } = pattern.scope.getBinding(local) ?? {}
    if (name === 'pending') {
      removeFromList(source, pattern.node.properties, each.node)
      for (const use of referencePaths) replacePending(source, use, ofUpstashResult('').pending)
    } else if (name === 'success') source.replace(each.node, `allowed: ${local}`)
    else if (name === 'reset') {
      const resetMs = source.newName(pattern.scope.block, 'resetMs')
      source.replace(each.node, resetMs === 'resetMs' ? resetMs : `resetMs: ${resetMs}`)
      for (const use of referencePaths) replaceExpression(source, use, `(Date.now() + ${resetMs})`)
    }
  }
}
