import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, propertyOf, resolved } from '../bindings.ts'
import type { Source } from '../source.ts'

/** Options of node-redis before 4, which 4 and later do not read. */
const OF_OLD = [
  'host',
  'port',
  'enable_offline_queue',
  'no_ready_check',
  'retry_strategy',
  'return_buffers',
  'connect_timeout',
  'auth_pass',
]

const OLD =
  'The client of Redis is of node-redis before 4, or in legacyMode: its commands take callbacks. Sluice takes clients of node-redis 5 and 6, and of ioredis. Update redis first.'

/**
 * Leaves the call if a client is one that Sluice does not take, as far as the file and its package.json say:
 * the program would throw at its start.
 *
 * @param client undefined: it is not seen which one it is
 */
export function checkClient(source: Source, client: NodePath | undefined): void {
  const made = client && resolved(client)
  if (made?.isNewExpression()) {
    const callee = made.get('callee') as NodePath
    if (importedFrom(callee, 'ioredis') !== undefined) return
    // A class of node-redis before 4.
    if (importedFrom(callee, 'redis') !== undefined) source.leave(OLD)
  }
  const isNodeRedis =
    made?.isCallExpression() && importedFrom(made.get('callee') as NodePath, 'redis') !== undefined
  if (isNodeRedis && hasOldOptions(made)) source.leave(OLD)
  const major = majorOf(source.dependencies.redis)
  const isSole = source.dependencies.ioredis === undefined
  if (major !== undefined && major < 4 && (isNodeRedis || isSole)) source.leave(OLD)
}

function hasOldOptions(made: NodePath<t.CallExpression>): boolean {
  const [first] = made.get('arguments') as NodePath[]
  if (first === undefined) return false
  const given = resolved(first)
  if (given.isNumericLiteral()) return true
  if (propertyOf(given, 'legacyMode')?.isBooleanLiteral({ value: true })) return true
  return OF_OLD.some((name) => propertyOf(given, name) !== undefined)
}

/** 3 of `^3.1.2`; undefined if it is no version. */
function majorOf(range: string | undefined): number | undefined {
  const [, major] = /^[\^~>=v\s]*(\d+)/.exec(range ?? '') ?? []
  return major === undefined ? undefined : Number(major)
}
