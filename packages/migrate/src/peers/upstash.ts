import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, memberName, nameOf, resolved, unwrapped, wrapped } from '../bindings.ts'
import { ofUpstashResult } from '../decision-fields.ts'
import { DIFFERENCES } from '../differences.ts'
import { durationMs, durationText } from '../durations.ts'
import { ELSEWHERE, leaveUse, ownValue } from '../find-options.ts'
import { memberOf, replaceExpression } from '../functions.ts'
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
    if (!imports.isUsed) return false
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
    // A limiter that stays keeps the name of its class.
    for (const use of imports.uses) if (source.isGone(use.path.node)) imports.drop(use)
    imports.finish()
    return true
  },
}

/** `Ratelimit.slidingWindow(…)` */
function isPartOfLimiter(path: NodePath): boolean {
  return path.findParent((each) => each.isNewExpression()) !== null
}

function migrateLimiter(source: Source, imports: Imports, made: Made): void {
  const uses = usesOfValue(made)
  if (uses === undefined) source.leave(PASSED_ON)
  const edits = uses.map((use) => planCall(source, use))
  const [given] = made.get('arguments') as NodePath[]
  const object = given && ownValue(source, given)
  if (!object?.isObjectExpression()) source.leave(ELSEWHERE)
  const options = new OptionsObject(source, object)
  if (options.spreads.length > 0) source.leave(ELSEWHERE)
  renameOptions(options)
  for (const edit of edits) edit()
  removeNew(source, made)
  options.finish()
  source.note(made, DIFFERENCES.upstash)
  source.note(made, DIFFERENCES.upstashFailure)
  const rest = imports.uses.filter(({ path }) => path.isDescendant(object))
  if (!rest.every(({ path }) => source.isReplaced(path.node))) source.leave(ELSEWHERE)
}

function renameOptions(options: OptionsObject): void {
  const { source } = options
  const redis = options.value('redis')
  const limiter = options.value('limiter')
  if (!isUpstashClient(redis)) options.leave(CLIENT)
  if (limiter === undefined) options.leave(ELSEWHERE)
  renamePrefix(options, 'prefix', ['limiter'])
  options.renameTo('redis', 'store')
  options.replace('limiter', ...algorithmOf(source, limiter))
  options.remove('analytics', 'ephemeralCache', 'timeout')
  checkUnknown(options)
}

/** `Redis.fromEnv()`, `new Redis({ url, token })` */
function isUpstashClient(path: NodePath | undefined): boolean {
  const made = path && resolved(path)
  const callee =
    made?.isNewExpression() || made?.isCallExpression() ? made.get('callee') : undefined
  const path0 = callee as NodePath | undefined
  const root = path0?.isMemberExpression() ? path0.get('object') : path0
  return CLIENTS.some((module) => root && importedFrom(root as NodePath, module) !== undefined)
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

/** Plans to rewrite a call of the limiter. Leaves it if its result is used in another way. */
function planCall(source: Source, path: NodePath): () => void {
  const found = memberOf(path)
  const call = found?.member.parentPath
  if (found === undefined || !call?.isCallExpression() || found.member.key !== 'callee') {
    return source.leave(PASSED_ON)
  }
  const [, more] = call.node.arguments
  if (found.name !== 'limit' || more !== undefined) {
    const instead = INSTEAD[found.name] ?? 'consume(key, { cost }) takes its place.'
    return source.leave(`${found.name}: ${instead}`)
  }
  const result = planResult(source, call)
  const { property } = found.member.node as t.MemberExpression
  return () => {
    source.replace(property, 'consume')
    result()
  }
}

/** `const { success, reset } = await limiter.limit(key)`, or a constant whose fields are read. */
function planResult(source: Source, call: NodePath): () => void {
  const outer = wrapped(call)
  const awaited = outer.parentPath
  if (!awaited?.isAwaitExpression()) return source.leave(RESULT)
  const { parentPath } = wrapped(awaited)
  if (parentPath?.isExpressionStatement()) return () => {}
  const read = memberOf(awaited)
  if (read !== undefined) return planFields(source, [awaited], source.original(awaited.node))
  if (!parentPath?.isVariableDeclarator()) return source.leave(RESULT)
  const id = parentPath.get('id') as NodePath
  if (id.isIdentifier()) {
    const { referencePaths = [] } = parentPath.scope.getBinding(id.node.name) ?? {}
    return planFields(source, referencePaths, id.node.name)
  }
  return id.isObjectPattern() ? planPattern(source, id) : source.leave(RESULT)
}

function planFields(source: Source, paths: readonly NodePath[], decision: string): () => void {
  const fields = ofUpstashResult(decision)
  const edits = paths.map((path) => {
    const found = memberOf(path)
    const text = found && fields[found.name]
    if (found === undefined) return source.leave(RESULT)
    return text === undefined ? source.leave(noField(found.name)) : ([found, text] as const)
  })
  return () => {
    for (const [{ member, name }, text] of edits) {
      const { property } = member.node as t.MemberExpression
      if (name === 'success') source.replace(property, 'allowed')
      else if (name === 'reset') source.replace(member.node, text)
      else if (name === 'pending') replacePending(source, member, text)
    }
  }
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

function planPattern(source: Source, pattern: NodePath<t.ObjectPattern>): () => void {
  const edits = pattern.get('properties').map((each) => {
    const isPlain = each.isObjectProperty() && each.node.value.type === 'Identifier'
    const name = isPlain ? nameOf(each.node.key) : undefined
    if (name === undefined) return source.leave(RESULT)
    if (!(name in ofUpstashResult(''))) return source.leave(noField(name))
    const local = nameOf((each.node as t.ObjectProperty).value) as string
    return [each.node, name, local] as const
  })
  return () => {
    for (const [node, name, local] of edits) {
      if (name === 'pending') {
        removeFromList(source, pattern.node.properties, node)
        const { referencePaths = [] } = pattern.scope.getBinding(local) ?? {}
        for (const each of referencePaths) replacePending(source, each, ofUpstashResult('').pending)
      } else if (name === 'success') source.replace(node, `allowed: ${local}`)
      else if (name === 'reset') {
        const resetMs = source.newName(pattern.scope.block, 'resetMs')
        source.replace(node, resetMs === 'resetMs' ? resetMs : `resetMs: ${resetMs}`)
        const { referencePaths = [] } = pattern.scope.getBinding(local) ?? {}
        for (const each of referencePaths)
          replaceExpression(source, each, `(Date.now() + ${resetMs})`)
      }
    }
  }
}
