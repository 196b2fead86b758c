import type { NodePath } from '@babel/traverse'
import { BY_HAND, isOfOptions, type Owners } from '../find-options.ts'
import { callOf, type Imports, isTypeUse, type Use } from '../imports.ts'
import type { Source } from '../source.ts'

/** The types of express-rate-limit, and those that take their places. */
export const TYPES: Readonly<Record<string, string>> = {
  Options: 'RateLimitOptions',
  RateLimitRequestHandler: 'RateLimitHandler',
}
/** Types of the other limiter's own objects: where one is used, the others stay too. */
const OWN_TYPES = ['Store', 'ClientRateLimitInfo', 'IncrementResponse', 'RateLimitInfo']

/** Whether an export makes limiters. */
export const isLimiter = (name: string) => ['default', 'rateLimit'].includes(name)

/** Whether a type belongs to limiters that are rewritten, all of them. */
export function isTypeOfMigrated(
  source: Source,
  imports: Imports,
  path: NodePath,
  owners: Owners,
): boolean {
  const calls = callsAround(imports, path)
  if (calls.length > 0) return calls.every(({ node }) => owners.has(node))
  const isOwn = imports.uses.some(({ name }) => OWN_TYPES.includes(name))
  return source.left.length === 0 && !isOwn
}

/** The limiters that are made in the variable or the function that a type is written for. */
function callsAround(imports: Imports, path: NodePath): NodePath[] {
  const owner = path.findParent((each) => each.isVariableDeclarator() || each.isFunction())
  const calls = imports.uses.flatMap((use) =>
    isLimiter(use.name) ? (callOf(use)?.call ?? []) : [],
  )
  return owner === null ? [] : calls.filter((call) => call.isDescendant(owner))
}

/** Why limiters stay because of a type. */
export function mixed(source: Source, { path }: Use): string {
  const type = source.original(path.node)
  const names = Object.entries(TYPES).map(([there, here]) => `${there} is ${here}`)
  return `Types for it, or for all limiters of this file, are of express-rate-limit: ${type}. ${BY_HAND} In @sluice/express, ${names.join(', ')}.`
}

/** A type for a limiter that has no name here: `rateLimit.Options`, `RateLimit` of old versions. */
export function isForeignType(imports: Imports, { path, name }: Use): boolean {
  if (!isTypeUse(path) || callsAround(imports, path).length === 0) return false
  return path.parentPath?.isTSQualifiedName() || !(name in TYPES || isLimiter(name))
}

/** A type that belongs to no limiter in particular, nor to the options of some that are rewritten. */
export function isFreeType(imports: Imports, use: Use, owners: Owners): boolean {
  const { path, name } = use
  const isOfBoth = name in TYPES || isLimiter(name)
  return (
    isOfBoth &&
    isTypeUse(path) &&
    callsAround(imports, path).length === 0 &&
    !isOfOptions(use, owners)
  )
}
