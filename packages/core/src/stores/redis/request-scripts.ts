import type { Algorithm } from '../../algorithms/algorithm.ts'
import type { Charge } from '../store.ts'
import { composeRequest } from './compose.ts'
import { Script } from './script.ts'

/** Policies of a request that has a script of its own. With more, the number of scripts would grow. */
const MAX_POLICIES = 3

/** By their shapes, of which there are few: see `PolicyShape`. */
const scripts = new Map<string, Script>()

/** What decides one request of the policies of a ledger in a call of its own. */
export class RequestScripts {
  private readonly algorithms: readonly Algorithm[]
  /** By how many constants each policy has: more than one only where limits vary greatly. */
  private known: { readonly sizes: readonly number[]; readonly script: Script }[] = []

  private constructor(algorithms: readonly Algorithm[]) {
    this.algorithms = algorithms
  }

  /** Undefined where driver.lua has to decide all requests. */
  static of(algorithms: readonly Algorithm[]): RequestScripts | undefined {
    const few = algorithms.length >= 1 && algorithms.length <= MAX_POLICIES
    if (!few || algorithms.some(({ keepsLog }) => keepsLog)) return undefined
    return new RequestScripts(algorithms)
  }

  /** @param now ms, about what the store's clock says */
  of(charges: readonly Charge[], now: number): Script {
    for (const { sizes, script } of this.known) {
      if (sizes.every((size, i) => size === charges[i]?.limit.constants(now).length)) return script
    }
    return this.compose(charges.map(({ limit }) => limit.constants(now).length))
  }

  private compose(sizes: readonly number[]): Script {
    const shapes = sizes.map((constants, i) => {
      return { lua: (this.algorithms[i] as Algorithm).lua, constants }
    })
    const text = composeRequest(shapes)
    const script = scripts.get(text) ?? new Script(text)
    scripts.set(text, script)
    this.known.push({ sizes, script })
    return script
  }
}

const constantTexts = new WeakMap<readonly number[], readonly string[]>()

/**
 * The arguments of request.lua.
 *
 * @param now ms, or -1: the server's clock
 * @param about ms, about what the store's clock says
 */
export function requestArguments(
  charges: readonly Charge[],
  now: number,
  about: number,
  minTtlMs: number,
): string[] {
  // No larger than most requests need: an array that grows from nothing takes room for 17.
  const args = [...textsOf((charges[0] as Charge).limit.constants(about))]
  let isUsual = now < 0 && charges[0]?.cost === 1
  for (let i = 1; i < charges.length; i += 1) {
    const { limit, cost } = charges[i] as Charge
    args.push(...textsOf(limit.constants(about)))
    if (cost !== 1) isUsual = false
  }
  if (isUsual) return args
  for (const { cost } of charges) args.push(`${cost}`)
  if (now >= 0) args.push(`${now}`, `${minTtlMs}`)
  return args
}

function textsOf(constants: readonly number[]): readonly string[] {
  let texts = constantTexts.get(constants)
  if (texts === undefined) {
    texts = constants.map(String)
    constantTexts.set(constants, texts)
  }
  return texts
}
