import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { propertyOf, resolved } from '../bindings.ts'
import { leaveUse, rewritingOf } from '../find-options.ts'
import { type Imports, isTypeUse, type Use } from '../imports.ts'
import type { Source } from '../source.ts'
import { planUse } from './flexible-calls.ts'
import { type AtFailure, createLimiterText, migrateConstructor } from './flexible-options.ts'
import type { Peer } from './peer.ts'
import { usesOfValue } from './uses-of-value.ts'

/** The classes whose counts Sluice can keep in the same place. */
const CLASSES = [
  'RateLimiterMemory',
  'RateLimiterRedis',
  'RateLimiterValkey',
  'RateLimiterValkeyGlide',
]
/** The advice for the other classes. */
const INSTEAD: Readonly<Record<string, string>> = {
  RateLimiterUnion:
    'createLimiter({ policies: [{ name, limit, window }, …] }) decides several limits together.',
  BurstyRateLimiter:
    "createLimiter({ limit, window, algorithm: 'token-bucket', burst }) takes the place of both limiters.",
  RateLimiterQueue:
    'await limiter.wait(key) of createLimiter takes the place of removeTokens(); maxWaiting is the longest queue.',
  RLWrapperBlackAndWhite: 'allow and deny of an adapter take the place of the lists.',
  RLWrapperTimeouts: 'deadline takes the place of the wrapper.',
  RateLimiterPostgres:
    'createLimiter({ limit, window, store: postgresStore(pool) }) takes its place; postgresStore is in @sluice/postgres, and store.migrate() creates its table.',
  RateLimiterMySQL:
    'createLimiter({ limit, window, store: mysqlStore(pool) }) takes its place, with a pool of mysql2/promise; mysqlStore is in @sluice/mysql, and store.migrate() creates its table.',
  RateLimiterDynamo:
    'createLimiter({ limit, window, store: dynamodbStore(client) }) takes its place; dynamodbStore is in @sluice/dynamodb, and store.migrate() creates its table.',
  RateLimiterSQLite:
    'createLimiter({ limit, window, store: sqliteStore(path) }) takes its place; sqliteStore is in @sluice/sqlite.',
  RateLimiterCluster:
    'createLimiter counts in each process. To share the counts, pass a client of Redis or Valkey as its store.',
}

const ELSE =
  'Sluice has no such store. createLimiter takes a client of Redis or Valkey, a store of @sluice/postgres, @sluice/mysql, @sluice/dynamodb or @sluice/sqlite, or one of your own.'

type Limiter = { readonly use: Use; readonly made: NodePath<t.NewExpression> }

export const rateLimiterFlexible: Peer = {
  name: 'rate-limiter-flexible',
  sluice: '@sluice/core',
  migrate(imports: Imports) {
    const { source } = imports
    const all = imports.uses.flatMap((use) => {
      const { parentPath } = use.path
      return parentPath?.isNewExpression() ? [{ use, made: parentPath }] : []
    })
    // A limiter that is a part of another one's options goes with them.
    const limiters = all.filter((each) => !all.some((other) => isInsuranceOf(each, other)))
    const left = leaveOthers(source, limiters)
    const rest = limiters.filter((each) => !left.has(each))
    const atFailures = new Map<Limiter, AtFailure>()
    for (const each of rest) {
      const atFailure = source.isLeft(each.made) ? undefined : plan(imports, each)
      if (atFailure !== undefined) atFailures.set(each, atFailure)
    }
    const planned = [...atFailures.keys()].map(({ made }) => made)
    for (const { made } of limiters) if (!planned.includes(made)) claimPrefixOf(source, made)
    const rewriting = rewritingOf(imports, planned)
    for (const limiter of rest) {
      const { use, made } = limiter
      const atFailure = atFailures.get(limiter)
      if (atFailure === undefined && !source.isLeft(made)) continue
      source.migrate(made, () => {
        imports.drop(use)
        migrateConstructor(rewriting, made, imports.local('createLimiter'), atFailure)
      })
    }
    for (const { path, name } of imports.uses) {
      const isMade = path.parentPath?.isNewExpression() && path.key === 'callee'
      const isOther = !isMade && !isTypeUse(path) && name !== 'RateLimiterRes'
      if (isOther && !source.isReplaced(path.node)) source.migrate(path, () => leaveUse(source))
    }
    const isAll = limiters.length > 0 && atFailures.size === limiters.length
    for (const use of isAll ? imports.uses : []) {
      if (imports.isDropped(use) || !use.path.parentPath?.isTSTypeReference()) continue
      if (use.name === 'RateLimiterRes') imports.replace(use, 'Decision', true)
      else if (CLASSES.includes(use.name)) imports.replace(use, 'Limiter', true)
    }
    imports.finish()
  },
}

/** The prefix of a limiter that stays: another one with it would not share its counts any more. */
function claimPrefixOf(source: Source, made: NodePath<t.NewExpression>): void {
  const [given] = made.get('arguments') as NodePath[]
  const prefix = given && propertyOf(resolved(given), 'keyPrefix')
  if (prefix?.isStringLiteral()) source.claimPrefix(prefix.node.value)
}

/** Notes the classes that nothing here is like. @returns what is not migrated */
function leaveOthers(source: Source, limiters: readonly Limiter[]): Set<Limiter> {
  const left = new Set<Limiter>()
  for (const limiter of limiters) {
    const { use, made } = limiter
    if (CLASSES.includes(use.name)) continue
    left.add(limiter)
    for (const each of limiters) if (isWithin(each, limiter)) left.add(each)
    source.noteLeft(made, INSTEAD[use.name] ?? ELSE)
  }
  return left
}

/** Whether a limiter is made in the options of one that may be rewritten. */
function isInsuranceOf(limiter: Limiter, outer: Limiter): boolean {
  return limiter !== outer && isWithin(limiter, outer) && CLASSES.includes(outer.use.name)
}

/** Whether a limiter is made as a part of another one. */
function isWithin({ made }: Limiter, outer: Limiter): boolean {
  return made.findParent((each) => each.node === outer.made.node) !== null
}

/**
 * Rewrites the calls of a limiter, if all can be.
 *
 * @returns what they do while the store fails; undefined: the limiter stays as it is
 */
function plan(imports: Imports, { made, use }: Limiter): AtFailure | undefined {
  const { source } = imports
  const uses = usesOfValue(made)
  const isSync = use.name === 'RateLimiterMemory'
  const plans = uses?.map((each) => planUse(source, each, isSync)) ?? []
  const problems = plans.filter((each) => 'problem' in each)
  const applied = plans.filter((each) => 'apply' in each)
  if (uses !== undefined && problems.length === 0) {
    for (const { apply } of applied) apply()
    if (isSync) return 'works'
    const most = (['refuses', 'fails', 'handles'] as const).find((each) =>
      applied.some(({ atFailure }) => atFailure === each),
    )
    return most ?? 'works'
  }
  const here = createLimiterText(imports, made)
  for (const { path, problem } of problems) source.note(path, problem)
  source.noteLeft(
    made,
    uses === undefined
      ? `Other files may call this limiter. Rewrite its calls and this in one change: a refusal is decision.allowed === false, not a rejection. Here, write ${here}.`
      : `Some of its calls, which have a comment, can't be rewritten safely. Rewrite them, and write ${here} here, in one change.`,
  )
  return undefined
}
