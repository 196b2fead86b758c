import { hash } from '#platform'

declare const checked: unique symbol

/**
 * A part of a limiter's keys: it follows the prefix, and separates the limiter from the others of an adapter.
 * Only the functions of this file make one, so that `inspect` can find all of them.
 */
export type Scope = string & { readonly [checked]: true }

/** The scope of a framework's first limiter, or of the only one: nothing. */
export const MAIN = '' as Scope

/** The scope of the n-th limiter which counts on the same store under the same prefix: `.2`. */
export function registrationScope(number: number): Scope {
  return (number === 1 ? MAIN : `.${number}`) as Scope
}

/** The scope of a route with limits of its own, in a limiter of any scope: `.2.0a1b2c3d`. */
export function routeScope(base: Scope, route: string): Scope {
  return `${base}.${hash('sha256', route, 'utf8', 'hex').slice(0, 8)}` as Scope
}

/** The prefix that a scope follows, or that has none. */
export function basePrefix(prefix: string): string {
  return prefix.replace(/(?<=.)(\.[1-9]\d{0,5})?(\.[\da-f]{8})?$/, '')
}

/** Whether text behind a prefix is a scope, and not the rest of another prefix. */
export function isScope(text: string): text is Scope {
  return /^(\.[1-9]\d{0,5})?(\.[\da-f]{8})?$/.test(text)
}
