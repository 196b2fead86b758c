import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { importedFrom, memberName, propertyOf, resolved, unwrapped } from '../bindings.ts'
import { durationMs, helperMs, millisecondsOf } from '../durations.ts'
import { isInlineFunction, resultsOf } from '../functions.ts'
import { constantOf } from '../numbers.ts'
import type { Parsed } from '../parse.ts'

/** A policy of the module, as far as it is constant. */
export interface ModulePolicy {
  readonly name: string
  readonly limit: number | undefined
  readonly windowMs: number | undefined
}

/** The module of an application: where it is, and its policies. */
export interface ThrottlerModule {
  readonly file: string
  readonly policies: readonly ModulePolicy[]
}

const MODULES = [
  ['@nestjs/throttler', 'ThrottlerModule'],
  ['@sluice/nest', 'RateLimitModule'],
] as const

/** @returns undefined if no file has it, more than one do, or its policies are made elsewhere */
export function moduleOf(files: readonly Parsed[]): ThrottlerModule | undefined {
  const found = files.flatMap((file) => callsIn(file).map((call) => ({ file: file.name, call })))
  const [only, ...others] = found
  if (only === undefined || others.length > 0) return undefined
  const policies = policiesOf(only.call)
  return policies && { file: only.file, policies }
}

/** Whether a file makes the module. */
export function hasModule(files: readonly Parsed[]): boolean {
  return files.some((file) => callsIn(file).length > 0)
}

function callsIn({ text, program }: Parsed): NodePath<t.CallExpression>[] {
  const calls: NodePath<t.CallExpression>[] = []
  if (!MODULES.some(([, name]) => text.includes(name))) return calls
  program.traverse({
    CallExpression(path) {
      const callee = path.get('callee')
      if (!callee.isMemberExpression() || !/^forRoot/.test(memberName(callee) ?? '')) return
      const isModule = MODULES.some(
        ([from, name]) => importedFrom(callee.get('object'), from) === name,
      )
      if (isModule) calls.push(path)
    },
  })
  return calls
}

function policiesOf(call: NodePath<t.CallExpression>): ModulePolicy[] | undefined {
  const [given] = call.get('arguments') as NodePath[]
  const object = given && resolved(given)
  const factory = object && propertyOf(object, 'useFactory')
  const results = isInlineFunction(factory) ? resultsOf(factory) : [object]
  const [result, ...others] = results
  return result === undefined || others.length > 0 ? undefined : listOf(resolved(result))
}

/** `[{ name, ttl, limit }]`, `{ throttlers: […] }`, `{ policies: […] }`, or the only one itself. */
function listOf(value: NodePath): ModulePolicy[] | undefined {
  const given = propertyOf(value, 'throttlers') ?? propertyOf(value, 'policies')
  const list = given === undefined ? value : resolved(given)
  if (list.isObjectExpression()) {
    const sole = policyOf(list, 1000)
    return sole && [sole]
  }
  if (!list.isArrayExpression()) return undefined
  const policies = list.get('elements').map((each) => {
    const element = unwrapped(each as NodePath)
    return element.isObjectExpression() ? policyOf(element) : undefined
  })
  return policies.every((each) => each !== undefined) ? policies : undefined
}

/** @param unitMs what a `ttl` counts: seconds before version 5. @returns undefined if its name is not seen */
function policyOf(
  object: NodePath<t.ObjectExpression>,
  unitMs: 1 | 1000 = 1,
): ModulePolicy | undefined {
  if (object.node.properties.some(({ type }) => type === 'SpreadElement')) return undefined
  const name = propertyOf(object, 'name')
  const text = name && unwrapped(name)
  if (text !== undefined && !text.isStringLiteral()) return undefined
  return {
    name: text === undefined ? 'default' : text.node.value,
    limit: constantOf(propertyOf(object, 'limit')),
    windowMs:
      windowMsOf(propertyOf(object, 'ttl'), unitMs) ?? windowMsOf(propertyOf(object, 'window')),
  }
}

/** `60000`, `seconds(60)`, `'1m'` */
export function windowMsOf(path: NodePath | undefined, unitMs: 1 | 1000 = 1): number | undefined {
  const inner = path && unwrapped(path)
  if (inner === undefined) return undefined
  if (inner.isStringLiteral()) return durationMs(inner.node.value)
  if (!inner.isCallExpression()) return millisecondsOf(inner, unitMs)
  const unit = helperMs(importedFrom(inner.get('callee'), '@nestjs/throttler') ?? '')
  const [count] = inner.get('arguments') as NodePath[]
  return unit && count && millisecondsOf(count, unit)
}
