import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from '../bindings.ts'
import { type InlineFunction, isInlineFunction } from '../functions.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'

/** A store for Redis, by what it was made with. */
export interface RedisStore {
  /** The expression of its client. */
  readonly client: string
  readonly prefix: string | undefined
}

/** @param path `new RedisStore({ sendCommand, client, prefix })`; undefined if it has no client */
export function redisStoreOf(
  source: Source,
  path: NodePath<t.NewExpression>,
): RedisStore | undefined {
  const [first] = path.get('arguments')
  const given = first && resolved(first as NodePath)
  if (!given?.isObjectExpression()) return undefined
  const options = new OptionsObject(source, given)
  const send = options.value('sendCommand') ?? options.value('sendCommandCluster')
  const direct = options.value('client')
  const prefix = options.value('prefix')
  const client = clientOf(source, send) ?? (direct && source.current(direct.node))
  if (client === undefined) return undefined
  return { client, prefix: prefix && source.current(prefix.node) }
}

/** `redis` of `(...args) => redis.call(...args)`. */
function clientOf(source: Source, path: NodePath | undefined): string | undefined {
  const fn = path && resolved(path)
  if (!isInlineFunction(fn)) return undefined
  const called = sentOn(fn)
  if (called === undefined) return undefined
  const owner = unwrapped(called.get('object') as NodePath)
  const isOfCall = [...fn.get('params')].some(
    (param) => param.isIdentifier() && owner.isIdentifier({ name: param.node.name }),
  )
  return isOfCall ? undefined : source.current(owner.node)
}

const METHODS = ['sendCommand', 'send_command', 'call']

function sentOn(fn: InlineFunction): NodePath<t.MemberExpression> | undefined {
  let found: NodePath<t.MemberExpression> | undefined
  fn.traverse({
    MemberExpression(path) {
      const { property } = path.node
      if (property.type === 'Identifier' && METHODS.includes(property.name)) {
        found = path
        path.stop()
      }
    },
  })
  return found
}
