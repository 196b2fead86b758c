import type { NodePath } from '@babel/traverse'
import { resolved, unwrapped } from '../bindings.ts'
import { noStore } from '../differences.ts'
import { Imports } from '../imports.ts'
import type { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

const MODULES = ['@nest-lab/throttler-storage-redis', 'nestjs-throttler-storage-redis']

/** The packages that keep the counts of @nestjs/throttler in Redis. */
export function redisStorageOf(source: Source): Imports[] {
  return MODULES.map((module) => new Imports(source, module, '')).filter(({ isUsed }) => isUsed)
}

/** `storage: new ThrottlerStorageRedisService(redis)`. */
export function renameStorage(
  source: Source,
  options: OptionsObject,
  storages: readonly Imports[],
): void {
  const value = options.value('storage')
  if (value === undefined) return
  const made = unwrapped(value)
  const uses = storages.flatMap((each) => each.uses.map((use) => ({ each, use })))
  const found = uses.find(({ use }) => use.path.parentPath === made)
  const [client] = made.isNewExpression() ? (made.get('arguments') as NodePath[]) : []
  if (!made.isNewExpression() || found === undefined) {
    source.leave(
      noStore(made.isNewExpression() ? source.original(made.node.callee) : 'such storage'),
    )
  }
  if (!isClient(client)) {
    source.leave(
      'storage: store is a client of Redis itself: new Redis(url) where this has a URL or options.',
    )
  }
  found.each.drop(found.use)
  options.renameTo('storage', 'store', source.original(client.node))
}

/** Whether it is certainly a client, not its URL or its options. */
function isClient(path: NodePath | undefined): path is NodePath {
  const inner = path && resolved(path)
  if (inner?.isNewExpression()) return true
  if (!inner?.isIdentifier()) return false
  const type = inner.scope.getBinding(inner.node.name)?.identifier.typeAnnotation
  return /\b(Redis|Cluster)\b/.test(type ? JSON.stringify(type) : '')
}
