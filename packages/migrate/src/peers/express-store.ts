import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, resolved, unwrapped, wrapped } from '../bindings.ts'
import { noStore } from '../differences.ts'
import type { Imports } from '../imports.ts'
import type { Entry, OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { redisStoreOf } from './redis-store.ts'

/** The option `store` of express-rate-limit. @returns whether it is, or may be, Redis */
export function renameStore(source: Source, options: OptionsObject, redis: Imports): boolean {
  const value = options.value('store')
  if (value === undefined) return false
  const store = isOnlyStore(value) ? resolved(value) : unwrapped(value)
  if (!store.isNewExpression()) {
    options.rename('store')
    return true
  }
  const callee = store.get('callee') as NodePath
  const isRedis = importedFrom(unwrapped(callee), redis.from) !== undefined
  if (!isRedis) {
    const isMemory = importedFrom(callee, 'express-rate-limit') === 'MemoryStore'
    if (!isMemory) source.note(options.path, noStore(source.original(callee.node)))
    options.remove('store')
    return false
  }
  const made = redisStoreOf(source, store)
  if (made === undefined) {
    source.note(options.path, 'store: pass the ioredis or node-redis client itself.')
    return true
  }
  for (const use of redis.uses) if (isWithin(use.path, store)) redis.drop(use)
  const prefix: Entry[] = made.prefix === undefined ? [] : [['prefix', made.prefix]]
  options.replace('store', ['store', made.client], ...prefix)
  return true
}

/** A constant that nothing but such an option reads, or no constant at all. */
function isOnlyStore(value: NodePath): boolean {
  const inner = unwrapped(value)
  if (!inner.isIdentifier()) return true
  const { referencePaths = [] } = inner.scope.getBinding(inner.node.name) ?? {}
  return referencePaths.every(
    ({ parent }) =>
      parent.type === 'ObjectProperty' && (parent.key as t.Identifier).name === 'store',
  )
}

function isWithin(path: NodePath, outer: NodePath): boolean {
  return path === outer || path.findParent((each) => each === outer) !== null
}

/** Stores that are made elsewhere in the file, such as in a function that makes one. */
export function replaceOtherStores(source: Source, redis: Imports): void {
  for (const use of redis.uses) {
    const made = wrapped(use.path).parentPath
    if (!made?.isNewExpression() || redis.isDropped(use)) continue
    const isGone = source.isReplaced(made.node)
    const store = isGone ? undefined : redisStoreOf(source, made)
    if (isGone || store !== undefined) redis.drop(use)
    if (store === undefined) continue
    source.replace(made.node, store.client)
    if (store.prefix !== undefined) {
      source.note(
        made,
        `the store is the client itself. Its prefix is an option of the limiter: prefix: ${store.prefix}`,
      )
    }
  }
}
