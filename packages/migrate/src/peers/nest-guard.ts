import type { NodePath } from '@babel/traverse'
import type * as t from '@babel/types'
import { nameOf } from '../bindings.ts'
import { returnsAddress } from '../option-functions.ts'
import { removeLines } from '../remove.ts'
import type { Source } from '../source.ts'

/** The advice for a method or a field of `ThrottlerGuard`. @param where the file of the module, as ` in …` */
const INSTEAD: Readonly<Record<string, (where: string) => string>> = {
  getTracker: (where) =>
    `write key: (request) => … with what it returns in RateLimitModule.forRoot${where}, and use RateLimitGuard in place of this class.`,
  generateKey: () =>
    'key in RateLimitModule.forRoot returns what identifies a client; the handler and the policy are never a part of it.',
  getRequestResponse: () =>
    'getRequest(context) of RateLimitGuard takes its place, and returns { request, response }.',
  canActivate: () =>
    'extend RateLimitGuard, whose canActivate(context) returns true or a promise of it, or throws RateLimitException. Exempt requests with skip: (request) => … in RateLimitModule.forRoot.',
  shouldSkip: () => 'skip: (request) => … in RateLimitModule.forRoot takes its place.',
  handleRequest: () =>
    'RateLimitGuard decides all policies together, and has no method for each. Exempt requests with skip, and choose their keys with key, in RateLimitModule.forRoot.',
  throwThrottlingException: () =>
    'respond in RateLimitModule.forRoot, or an exception filter for RateLimitException, takes its place.',
  getErrorMessage: () =>
    'respond: (decision, request) => … in RateLimitModule.forRoot takes its place.',
  errorMessage: () => 'respond: () => … in RateLimitModule.forRoot takes its place.',
  constructor: () =>
    'RateLimitGuard is made with RateLimits alone: constructor(limits: RateLimits) { super(limits) }, or none.',
}

/** A guard of the application: without its own methods it is ours. @param where the file of the module, as ` in …` */
export function migrateGuard(source: Source, guard: NodePath<t.Class>, where: string): void {
  for (const member of guard.get('body').get('body') as NodePath[]) {
    const { key } = member.node as t.ClassMethod
    const name = key === undefined ? undefined : nameOf(key)
    if (name === 'getTracker' && member.isClassMethod() && returnsAddress(member)) {
      removeLines(source, member.node)
      continue
    }
    const instead = name === undefined ? undefined : INSTEAD[name]
    source.leave(
      `${name ?? 'This class'}: ${instead?.(where) ?? 'RateLimitGuard has no such method or field to rely on.'}`,
    )
  }
}
