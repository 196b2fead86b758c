import type { FastifyInstance } from 'fastify'

/** Where a limiter counts, as its options say. */
interface Place {
  readonly store?: unknown
  readonly prefix?: string | undefined
}

/** The limiters registered in each context, in order. */
const registered = new WeakMap<object, Place[]>()

/**
 * Notes a limiter that is registered in a context.
 *
 * @returns its number, from 1, among the limiters of the context's requests that count on the same
 * store under the same prefix
 */
export function register(context: FastifyInstance, place: Place): number {
  const { store, prefix = 'sluice' } = place
  const earlier = inTheWay(context).filter((each) => each.store === store && each.prefix === prefix)
  registered.set(context, [...(registered.get(context) ?? []), { store, prefix }])
  return earlier.length + 1
}

/** A context inherits the hooks of the one around it, which Fastify makes its prototype. */
function inTheWay(context: object | null): Place[] {
  if (context === null) return []
  return [...inTheWay(Object.getPrototypeOf(context)), ...(registered.get(context) ?? [])]
}
