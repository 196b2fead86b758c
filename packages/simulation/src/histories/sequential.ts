import type { PolicyOptions } from '@sluice/core'
import {
  applyChange,
  type CompiledLimit,
  commitOne,
  decideAll,
  decodeState,
  encodeState,
  type KeyState,
  Policy,
} from '@sluice/core/store'
import type { Answer, Asked } from './history.ts'

/** The states of a key, one for each policy, as text: equal texts are equal states. */
export type States = string

const SEPARATOR = ','

/** The limiter as it would be if one process asked, one request after the other: core's rules, and nothing else. */
export class SequentialLimiter {
  /** The states of a key that nobody has used. */
  readonly unused: States
  readonly #limits: readonly CompiledLimit[]

  constructor(policies: readonly PolicyOptions[]) {
    this.#limits = policies.map((each) => new Policy('', each).anyLimit())
    this.unused = this.#limits.map(() => '').join(SEPARATOR)
  }

  /** @param at ms, on the store's clock */
  carryOut(states: States, asked: Asked, at: number): { states: States; answer?: Answer } {
    return 'cost' in asked
      ? this.#consume(states, asked.cost, at)
      : { states: this.#giveBack(states, asked.giveBack, asked.chargedAt, at) }
  }

  #consume(states: States, cost: number, at: number) {
    const texts = states.split(SEPARATOR)
    const loaded = texts.map(read)
    const charges = this.#limits.map((limit) => ({ key: '', limit, cost }))
    const allowed = decideAll(loaded, charges, at)
    const policies = loaded.map(({ admitted, remaining, resetMs, retryAfterMs, delayMs }) => {
      return { allowed: admitted, remaining, resetMs, retryAfterMs, delayMs }
    })
    const kept = loaded.map((state, i) => {
      const isChanged = commitOne(state, charges[i] as never, at, allowed ? cost : 0)
      return isChanged ? write(state) : texts[i]
    })
    return { states: kept.join(SEPARATOR), answer: { at, allowed, policies } }
  }

  #giveBack(states: States, units: number, chargedAt: number, at: number): States {
    const texts = states.split(SEPARATOR)
    const charges = this.#limits.map((limit) => ({ key: '', limit, cost: -units }))
    const kept = {
      load: (policy: number) => read(texts[policy] as string),
      keep(policy: number, _: string, state: KeyState, keepMs: number) {
        texts[policy] = keepMs === 0 ? '' : write(state)
      },
      own: () => undefined,
      keepOwn: () => {},
    }
    applyChange({ kind: 'settle', charges, chargedAt }, kept, [], at)
    return texts.join(SEPARATOR)
  }
}

function read(text: string) {
  return decodeState(text === '' ? undefined : Buffer.from(text, 'hex'))
}

function write(state: Parameters<typeof encodeState>[0]): string {
  return Buffer.from(encodeState(state)).toString('hex')
}
