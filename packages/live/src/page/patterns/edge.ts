import { LIMIT } from '../../limits.ts'
import { edgeAfter } from '../algorithms/fixed-window/model.ts'
import type { Pattern } from './pattern.ts'

/**
 * The last before the edge keeps this distance to it, ms: a request may be long on its way, since some
 * others keep their connections while they wait or are in progress.
 */
const BEFORE_MS = 1500
/** The first after the edge keeps this distance to it, ms: clocks may differ by a little. */
const AFTER_MS = 300
/** The pause between two requests, ms. */
const GAP_MS = 50

/** How long they take, ms. */
const LENGTH_MS = (LIMIT - 1) * GAP_MS

/** The limit twice: just before a window ends and just after. */
export const edge: Pattern = {
  name: 'Edge of a window',
  hint: `${LIMIT} just before a window ends, ${LIMIT} just after`,
  plan(now) {
    const moment = edgeAfter(now + LENGTH_MS + BEFORE_MS)
    return [moment - BEFORE_MS - LENGTH_MS, moment + AFTER_MS].flatMap((from) =>
      Array.from({ length: LIMIT }, (_, i) => from + i * GAP_MS),
    )
  },
}
