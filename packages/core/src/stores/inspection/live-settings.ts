import { parseDuration } from '../../options/duration.ts'
import {
  POLICIES,
  type PolicySettings,
  readOrNothing,
  settingsAt,
} from '../documents/policy-document.ts'
import type { Documents } from '../store.ts'
import type { KeptKeyspace } from './keyspace-text.ts'
import { formatParams, parseLive, parseParams } from './keyspace-text.ts'

/** The keyspaces with the limits that a document sets in place of those of the code. */
export async function withSettings(
  kept: readonly KeptKeyspace[],
  documents: Documents<'async'>,
  prefix: string,
  now: number,
): Promise<KeptKeyspace[]> {
  const { text = '' } = await documents.read(prefix, POLICIES, '')
  const { policies } = readOrNothing(text)
  return kept.map((each) => {
    const live = parseLive(each.params)
    const settings = live && settingsAt(policies[live.id], now)
    return settings === undefined ? each : { ...each, params: paramsWith(each.params, settings) }
  })
}

function paramsWith(params: string, settings: PolicySettings): string {
  const code = parseParams(params)
  const limit = settings.limit ?? settings.concurrent ?? code?.limit
  if (limit === undefined) return params
  const burst = settings.burst ?? code?.burst
  const { maxDelay } = settings
  const maxDelayMs =
    maxDelay === undefined ? code?.maxDelayMs : parseDuration('maxDelay', maxDelay, 0)
  const [live = ''] = /;live=.*$/.exec(params) ?? []
  return formatParams({ limit, windowMs: 0, burst, maxDelayMs }) + live
}
