import { LIMIT } from '../../limits.ts'
import { edgeAfter } from '../models/fixed-window.ts'
import type { Pattern } from './pattern.ts'

/** The last before the edge and the first after it keep this distance, ms: timers are not exact. */
const CLEAR_MS = 400
/** Between two requests, ms. */
const GAP_MS = 50
/** What it takes before the edge, ms. */
const RUN_UP_MS = CLEAR_MS + (LIMIT - 1) * GAP_MS

/** The limit twice: just before a window ends and just after. */
export const edge: Pattern = {
  name: 'Edge of a window',
  hint: `${LIMIT} just before a window ends, ${LIMIT} just after`,
  plan(now) {
    const moment = edgeAfter(now + RUN_UP_MS)
    const steps = Array.from({ length: LIMIT }, (_, i) => CLEAR_MS + i * GAP_MS)
    return [...steps.map((step) => moment - step).reverse(), ...steps.map((step) => moment + step)]
  },
}
