import { basename } from 'node:path'
import { UsageError } from '@sluice/terminal/usage-error'
import { type LimitsFile, readLimitsFile } from '../limits-file.ts'
import { loadModule } from '../load-module.ts'
import type { Clients } from '../log/clients.ts'
import type { Mask } from '../log/mask.ts'
import type { ReplayFlags } from './flags.ts'
import { hasConcurrent, prepare, type ReplayOptions, unheeded } from './replay-options.ts'
import type { ReplayPlan } from './replay-plan.ts'
import { HttpRun } from './runs/http-run.ts'
import { SharedWindow } from './statistics/shared-window.ts'

/** Flags for options that the file already sets. */
const POLICY_FLAGS = [
  'limit',
  'window',
  'algorithm',
  'burst',
  'maxDelay',
  'ban',
  'concurrent',
  'cost',
] as const

/**
 * One run, with the options of the middleware that a file exports; and with `--policy` a second one, with what that
 * file sets in place of them.
 * @throws UsageError, or SluiceError for wrong options
 */
export async function planConfig(
  file: string,
  flags: ReplayFlags,
  { clients, mask }: { readonly clients: Clients; readonly mask: Mask },
): Promise<ReplayPlan> {
  const option = POLICY_FLAGS.find((name) => flags[name] !== undefined)
  if (option !== undefined) {
    const flag = option === 'maxDelay' ? 'max-delay' : option
    throw new UsageError(`--${flag} and --config exclude each other: the file says it all`)
  }
  const options = await load(file)
  if (flags.duration === undefined && hasConcurrent(options)) {
    throw new UsageError('a policy with concurrent needs --duration: how long each request took')
  }
  const demands: SharedWindow[] = []
  const name = basename(file)
  const begun = async (name: string, policies?: LimitsFile) => {
    const run = new HttpRun({
      name,
      options: prepare(options),
      clients,
      mask,
      demandFor(windowMs) {
        const demand = new SharedWindow(windowMs, 1)
        demands.push(demand)
        return demand
      },
    })
    await run.begin(policies)
    return run
  }
  const runs = [await begun(name)]
  const { policy } = flags
  if (policy !== undefined)
    runs.push(await begun(`${name} with ${basename(policy)}`, readLimitsFile(policy)))
  return { runs, demands, whole: true, notes: unheeded(options) }
}

async function load(file: string): Promise<ReplayOptions> {
  const loaded = await loadModule('--config', file)
  if (typeof loaded === 'object' && loaded !== null && Object.keys(loaded).length > 0) {
    return loaded as ReplayOptions
  }
  throw new UsageError(
    `--config: expected the options of a rate limit as the default export of ${file}`,
  )
}
