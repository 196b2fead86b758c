import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { resolved, unwrapped } from '../bindings.ts'
import { DIFFERENCES } from '../differences.ts'
import { type InlineFunction, isInlineFunction } from '../functions.ts'
import { OptionsObject } from '../options-object.ts'
import type { Source } from '../source.ts'
import { checkClient } from './redis-client.ts'

/** A store for Redis, by what it was made with. */
export interface RedisStore {
  /** The expression of its client. */
  readonly client: string
  readonly prefix: NodePath | undefined
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
  if (others.length > 0 || options.spreads.length > 0) return undefined
  const client = clientOf(send) ?? (isLasting(direct) ? direct : undefined)
  if (client === undefined) return undefined
  checkClient(source, client)
  return { client: source.current(client.node), prefix }
}

const KNOWN = ['sendCommand', 'sendCommandCluster', 'client', 'prefix']

/**
 * The prefix of a limiter on a store that others may use, as source code. Leaves the call if limiters with different
 * numbers would have the same one, which is an error here; there, they share counts.
 *
 * @param numbers its limit and its window
 */
export function prefixText(
  source: Source,
  prefix: NodePath | undefined,
  numbers: readonly (NodePath | undefined)[],
): string {
  const isFixed = prefix === undefined || !variesIn(prefix)
  if (isFixed && numbers.some((each) => each !== undefined && variesIn(each))) {
    source.leave(
      'It is made in a function, with numbers that the function gets. On one store, limiters with different numbers need different prefixes: give the function a name too, and write prefix: name.',
    )
  }
  if (prefix === undefined) return source.newPrefix()
  const text = validPrefix(source, prefix)
  const inner = unwrapped(prefix)
  const isClaimed = inner.isStringLiteral() && !source.claimPrefix(inner.node.value)
  if (isClaimed) {
    source.leave(
      `Another limiter of this file has the prefix ${text} too. There they share counts; here limiters with different numbers on one store need different prefixes. Write a prefix for each.`,
    )
  }
  return text
}

/**
 * Renames the prefix of a limiter on a store that others may use, or gives it one.
 *
 * @param numbers the options that say its limit and its window
 */
export function renamePrefix(
  options: OptionsObject,
  name: string,
  numbers: readonly string[],
): void {
  const given = options.value(name)
  const values = numbers.map((each) => options.value(each))
  const prefix = prefixText(options.source, given, values)
  options.merge([name], ['prefix', prefix], true)
  if (given === undefined) options.note(DIFFERENCES.sharedPrefix)
}

/** Whether an expression reads what a function around it gets or makes: it may be another value at each call. */
function variesIn(path: NodePath): boolean {
  if (path.isFunction()) return false
  let varies = false
  const check = (each: NodePath) => {
    if (!each.isReferencedIdentifier()) return
    const { scope } = path.scope.getBinding((each.node as t.Identifier).name) ?? {}
    if (scope?.path.isFunction() || scope?.getFunctionParent()) varies = true
  }
  check(path)
  path.traverse({ Identifier: check })
  return varies
}

/** A prefix as source code: letters, digits and `. _ : -` of a constant. Its counts begin anew in any case. */
export function validPrefix(source: Source, path: NodePath): string {
  const inner = unwrapped(path)
  const text = source.original(path.node)
  if (!inner.isStringLiteral() || /^[\w.:-]{1,64}$/.test(inner.node.value)) return text
  const valid = inner.node.value.replace(/[^\w.:-]+/g, '.').replace(/^\.|\.$/g, '')
  return valid === '' ? source.newPrefix() : `'${valid.slice(0, 64)}'`
}

/** Whether an expression already is, when the limiter is made, what it will be: a constant, or new. */
function isLasting(path: NodePath | undefined): path is NodePath {
  const inner = path && unwrapped(path)
  if (!inner?.isIdentifier()) return inner?.isNewExpression() ?? false
  return inner.scope.getBinding(inner.node.name)?.constant ?? false
}

/** `redis` of `(...args) => redis.call(...args)`. */
function clientOf(path: NodePath | undefined): NodePath | undefined {
  const fn = path && resolved(path)
  if (!isInlineFunction(fn)) return undefined
  const called = sentOn(fn)
  if (called === undefined) return undefined
  const owner = unwrapped(called.get('object') as NodePath)
  const isOfCall = owner.isIdentifier() && fn.scope.hasOwnBinding(owner.node.name)
  return isOfCall || !isLasting(owner) ? undefined : owner
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
