import type { CompiledLimit } from '../../algorithms/algorithm.ts'
import { madeOnce } from '../../made-once.ts'
import { isOnRefusal } from '../rules/decide-all.ts'

const shares = new WeakMap<CompiledLimit, CompiledLimit>()

/**
 * The limit by which this process decides alone: at least one unit, if the whole one has any. What counts refusals has no
 * share.
 *
 * @param share above 0, up to 1, always the same for a limit
 */
export function localShareOf(limit: CompiledLimit, share: number): CompiledLimit {
  if (share === 1 || isOnRefusal(limit)) return limit
  return madeOnce(shares, limit, () => {
    const { algorithm, params } = limit
    const burst = params.burst === undefined ? undefined : shareOf(params.burst, share)
    return algorithm.compile({ ...params, limit: shareOf(params.limit, share), burst })
  })
}

/** A share of a quota in units, rounded down, but at least one. */
function shareOf(units: number, share: number): number {
  return units === 0 ? 0 : Math.max(1, Math.floor(units * share))
}
