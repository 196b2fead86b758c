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

/** @param path `new RedisStore({ sendCommand, client, prefix })`; undefined if it is another one */
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
  const others = options.unknown.filter((name) => !KNOWN.includes(name))
  if (others.length > 0 || options.spreads.length > 0 || !isPrefix(prefix)) return undefined
  const client = clientOf(source, send) ?? (isLasting(direct) && source.current(direct.node))
  return client ? { client, prefix: prefix && source.current(prefix.node) } : undefined
}

const KNOWN = ['sendCommand', 'sendCommandCluster', 'client', 'prefix']

/** Whether Sluice can take it as a prefix, as far as it can be seen. */
export function isPrefix(path: NodePath | undefined): boolean {
  return !path?.isStringLiteral() || /^[\w.:-]{1,64}$/.test(path.node.value)
}

/** Whether an expression already is, when the limiter is made, what it will be: a constant, or new. */
function isLasting(path: NodePath | undefined): path is NodePath {
  const inner = path && unwrapped(path)
  if (!inner?.isIdentifier()) return inner?.isNewExpression() ?? false
  return inner.scope.getBinding(inner.node.name)?.constant ?? false
}

/** `redis` of `(...args) => redis.call(...args)`. */
function clientOf(source: Source, path: NodePath | undefined): string | undefined {
  const fn = path && resolved(path)
  if (!isInlineFunction(fn)) return undefined
  const called = sentOn(fn)
  if (called === undefined) return undefined
  const owner = unwrapped(called.get('object') as NodePath)
  const isOfCall = owner.isIdentifier() && fn.scope.hasOwnBinding(owner.node.name)
  return isOfCall || !isLasting(owner) ? undefined : source.current(owner.node)
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
