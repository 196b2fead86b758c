import type { NodePath } from '@babel/traverse'
import { unwrapped } from '../bindings.ts'
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
  if (!made.isNewExpression() || found === undefined || client?.isSpreadElement()) {
    const name = made.isNewExpression() ? source.original(made.node.callee) : 'such storage'
    source.note(options.path, noStore(name))
    options.remove('storage')
    return
  }
  found.each.drop(found.use)
  options.renameTo('storage', 'store', client && source.original(client.node))
}
