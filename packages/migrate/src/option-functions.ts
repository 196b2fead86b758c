import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { optionHere } from '@sluice/core/internal'
import { importedFrom, memberName, resolved, unwrapped } from './bindings.ts'
import { durationOf } from './durations.ts'
import {
  functionText,
  isInlineFunction,
  parameterTexts,
  readsMore,
  setParameters,
  soleResult,
} from './functions.ts'
import type { OptionsObject } from './options-object.ts'
import type { Source } from './source.ts'

/**
 * Renames an option that is a value or a function of the request. Leaves the call if the function reads more, which it
 * does not get here.
 */
export function renameFunction(options: OptionsObject, name: string): void {
  const { source } = options
  const value = options.value(name)
  if (value === undefined) return
  const fn = resolved(value)
  if ((fn.isFunctionDeclaration() || isInlineFunction(fn)) && readsMore(fn))
    options.leave(`${name}: the function reads parameters that it does not get here.`)
  if (isInlineFunction(value) && value.node.params.length > 1)
    setParameters(source, value, parameterTexts(source, value).slice(0, 1))
  options.rename(name)
}

/** Leaves the call if nothing was done with some of its options. @param same names that both have */
export function checkUnknown(options: OptionsObject, same: readonly string[] = []): void {
  const [name] = options.unknown.filter((each) => !same.includes(each))
  if (name === undefined) return
  const here = optionHere(name)?.option
  const instead =
    here === undefined
      ? 'nothing takes its place here. Remove it, if nothing depends on it.'
      : `${here} takes its place, in another form: https://sluicejs.github.io/sluice/options#${here.toLowerCase()}`
  options.leave(`${name}: ${instead}`)
}

/** The function with its first parameters, called where it can't be used as it is. */
export function call(source: Source, path: NodePath, given: readonly string[]): string {
  const text = isInlineFunction(path) ? functionText(source, path) : source.current(path.node)
  const callee = path.isIdentifier() || path.isMemberExpression() ? text : `(${text})`
  const count = isInlineFunction(path) ? path.node.params.length : given.length
  return `${callee}(${given.slice(0, count).join(', ')})`
}

/** Whether a key function returns only what is the key anyway: the client's address. */
export function returnsAddress(fn: NodePath<t.Function>): boolean {
  const result = soleResult(fn)
  return result !== undefined && isAddress(result)
}

/** Whether an expression is the address of the client, as the frameworks say it. */
function isAddress(path: NodePath): boolean {
  const inner = unwrapped(path)
  if (inner.isAwaitExpression()) return isAddress(inner.get('argument'))
  if (inner.isMemberExpression()) {
    if (!inner.node.computed) return memberName(inner) === 'ip'
    // The first of the addresses that trusted proxies name is the address itself.
    const isOfAddresses = /^\w+\.ips$/.test(inner.get('object').toString())
    return isOfAddresses && inner.get('property').isNumericLiteral({ value: 0 })
  }
  if (inner.isConditionalExpression()) {
    const isOfAddresses = /^\w+\.ips\??\.length( > 0)?$/.test(inner.get('test').toString())
    return isOfAddresses && isAddress(inner.get('consequent')) && isAddress(inner.get('alternate'))
  }
  if (inner.isLogicalExpression()) {
    return isAddress(inner.get('left')) && !inner.get('right').isMemberExpression()
  }
  if (!inner.isCallExpression()) return false
  const [first, ...others] = inner.get('arguments') as NodePath[]
  const callee = inner.get('callee') as NodePath
  const isKept =
    importedFrom(callee, 'express-rate-limit') === 'ipKeyGenerator' ||
    callee.toString() === 'Promise.resolve'
  return isKept && first !== undefined && others.length === 0 && isAddress(first)
}

/** Renames the function of the key, or removes it if it returns the address. */
export function renameKey(options: OptionsObject, name: string): void {
  const value = options.value(name)
  if (isInlineFunction(value)) {
    if (returnsAddress(value)) {
      options.remove(name)
      return
    }
    if (/x-forwarded-for|x-real-ip/i.test(options.source.original(value.node))) {
      options.note(
        `every client can write these header fields and so choose its key. Name your proxies in the framework's setting or in trustProxy, and leave key out: the address is the default.`,
      )
    }
  }
  if (value !== undefined) renameFunction(options, name)
}

/**
 * A client that is blocked for a time after its first refusal.
 *
 * @param unitMs what a number counts there, ms
 * @param window the length of the window, as source code
 */
export function renameBlock(options: OptionsObject, unitMs: 1 | 1000, window = "'1m'"): void {
  const block = options.value('blockDuration')
  if (block === undefined) return
  const duration = durationOf(options.source, block, unitMs)
  const ban = `{ after: 1, within: ${window}, for: [${duration}] }`
  if (block.isNumericLiteral({ value: 0 })) options.remove('blockDuration')
  else options.rename('blockDuration', ban)
}
