import { type Exchange, isIn, type Ruling, teamOf } from '../exchange.ts'
import type { PlannedApplication } from '../plan.ts'
import type { Fail } from '../stage.ts'

/** What must become of a request that no policy decides; undefined: its policies do. */
export function rulingOf(
  { planned }: Pick<Exchange, 'planned'>,
  { lists, policies }: PlannedApplication,
): Ruling | undefined {
  const { route, exempt, client } = planned
  if (route === 'free' || exempt === 'skip') return 'exempt'
  if (lists === undefined) return exempt && 'exempt'
  const keys = policies
    .filter(({ isOfRoute }) => (route === 'own') === (isOfRoute === true))
    .map(({ level }) => (level === undefined ? client : teamOf(client)))
  const names = (entry: string) =>
    isIn(entry, client) || keys.some((key) => entry === key || entry === `key:${key}`)
  const isDenied = lists.deny.some(names)
  if (exempt === 'preflight') return isDenied ? 'deny' : 'exempt'
  if (isDenied) return 'deny'
  return lists.allow.some(names) ? 'allow' : undefined
}

/** A request goes on if it is admitted, exempt, or if its application lets all of them go on. */
export function checkVerdict(
  exchange: Exchange,
  isLetOn: boolean,
  application: PlannedApplication,
  fail: Fail,
): void {
  const { planned, decision, isClosed, ruling, hasLeftLine } = exchange
  const { goesOn } = application
  if (hasLeftLine) {
    if (isLetOn || decision) fail('verdict', `${planned.client} has left, and its request goes on`)
    return
  }
  const by = decision && `${decision.allowed ? 'admitted' : 'refused'} by ${decision.source}`
  if (ruling === 'exempt' ? decision !== undefined : decision === undefined)
    fail('exempt', `${planned.client} is ${ruling ?? 'limited'}, and was ${by ?? 'not decided'}`)
  if (decision === undefined) {
    if (!isLetOn) fail('exempt', `an exempt request of ${planned.client} ends`)
    return
  }
  const { allowed, source, policies, delayMs } = decision
  if (ruling !== undefined && (source !== ruling || policies.length > 0))
    fail('exempt', `${planned.client} is on the list ${ruling}, and was ${by}`)
  const isDecided = policies.length > 0
  const isExpected =
    allowed || goesOn === 'in a dry run' || (goesOn === 'with its decision' && isDecided)
  // A client that has gone has no turn.
  const hasGone = delayMs > 0 && isClosed
  if (isLetOn !== isExpected && !hasGone)
    fail('verdict', `${planned.client}, ${by}, ${isLetOn ? 'goes on' : 'ends'}`)
}
