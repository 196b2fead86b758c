import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, readsOf, resolved, unwrapped } from '../bindings.ts'
import { DIFFERENCES, noStore } from '../differences.ts'
import { checkOnce } from '../functions.ts'
import type { Imports } from '../imports.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { prefixText, type RedisStore, redisStoreOf } from './redis-store.ts'

const MADE_ELSEWHERE =
  'store: pass the ioredis or node-redis client itself, and the prefix of its store as prefix. How this store is made is not seen here.'

const SHARED =
  'store: several limiters have these options, and share the counts in its store. Here limiters with different numbers on one store need different prefixes: give each its own store and prefix.'

/** The option `store` of express-rate-limit. @returns whether it is Redis */
export function renameStore(imports: Imports, options: OptionsObject, limiter: NodePath): boolean {
  const { source } = imports
  const value = options.value('store')
  if (value === undefined) return false
  const store = storeOf(imports, value)
  if (store === undefined) {
    checkOnce(source, value, limiter, 'store')
    options.remove('store')
    return false
  }
  const { client, prefix } = store
  if (readsOf(options.path).length > 1) source.leave(SHARED)
  if (prefix === undefined) source.note(options.path, DIFFERENCES.sharedPrefix)
  const numbers = ['max', 'limit', 'windowMs'].map((name) => options.value(name))
  options.replace('store', ['store', client], ['prefix', prefixText(source, prefix, numbers)])
  return true
}

/** Returns the store on Redis; undefined: memory. Leaves the call if that is not certain. */
function storeOf(imports: Imports, path: NodePath): RedisStore | undefined {
  const source: Source = imports.source
  const store = isOnlyStore(path) ? resolved(path) : unwrapped(path)
  if (store.isIdentifier({ name: 'undefined' })) return undefined
  if (store.isConditionalExpression()) {
    const branches = [store.get('consequent'), store.get('alternate')] as const
    const [one, other] = branches.map((each) => storeOf(imports, each))
    if (one === undefined && other === undefined) return undefined
    if (one && other) source.leave(MADE_ELSEWHERE)
    const test = source.current(store.node.test)
    const client = `${test} ? ${one?.client} : ${other?.client}`
    return { client, prefix: (one ?? other)?.prefix }
  }
  if (!store.isNewExpression()) return source.leave(MADE_ELSEWHERE)
  const callee = unwrapped(store.get('callee') as NodePath)
  if (importedFrom(callee, imports.from) === 'MemoryStore') {
    dropWithin(imports, store)
    return undefined
  }
  if (importedFrom(callee, 'rate-limit-redis') === undefined) {
    source.leave(noStore(source.original(callee.node)))
  }
  return redisStoreOf(source, store) ?? source.leave(MADE_ELSEWHERE)
}

/** The uses within an expression are gone with it. */
function dropWithin(imports: Imports, outer: NodePath): void {
  for (const use of imports.uses) {
    if (use.path.find((each) => each.node === outer.node) !== null) imports.drop(use)
  }
}

/** A constant that nothing but one such option reads. */
function isOnlyStore(value: NodePath): boolean {
  const inner = unwrapped(value)
  if (!inner.isIdentifier()) return false
  const { referencePaths = [] } = inner.scope.getBinding(inner.node.name) ?? {}
  const [read, ...others] = referencePaths
  return (
    others.length === 0 &&
    read?.parent.type === 'ObjectProperty' &&
    (read.parent.key as t.Identifier).name === 'store'
  )
}
