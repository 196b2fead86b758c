import type { NodePath } from '@babel/traverse'
import { importedFrom, resolved, unwrapped } from '../bindings.ts'
import { noStore } from '../differences.ts'
import type { OptionsObject } from '../options-object.ts'

/** The packages that keep the counts of @nestjs/throttler in Redis. */
const MODULES = ['@nest-lab/throttler-storage-redis', 'nestjs-throttler-storage-redis']

/** `storage: new ThrottlerStorageRedisService(redis)`. */
export function renameStorage(options: OptionsObject): void {
  const { source } = options
  const value = options.value('storage')
  if (value === undefined) return
  const made = unwrapped(value)
  if (!made.isNewExpression()) options.leave(noStore('such storage'))
  const callee = made.get('callee') as NodePath
  if (!MODULES.some((each) => importedFrom(callee, each) !== undefined))
    options.leave(noStore(source.original(callee.node)))
  const [client] = made.get('arguments') as NodePath[]
  if (!isClient(client)) {
    options.leave(
      'storage: store is a client of Redis itself: new Redis(url) where this has a URL or options.',
    )
  }
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
