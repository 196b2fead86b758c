import type { Decision } from '@sluice/core'
import type { Charge } from '@sluice/core/store'
import type { FetchReply, RequestAdapter } from '@sluice/http/adapter'
import type { Terms } from './documents.ts'
import type { PlannedRequest } from './plan.ts'

/** What must become of a request, whatever is counted. `exempt`: there is no decision about it. */
export type Ruling = 'exempt' | 'allow' | 'deny'

/** What was known of a client's accounts when it was refused. */
export interface Waited {
  /** How often each account had changed; none: it can't be told whether the client must be admitted. */
  readonly changes: readonly number[]
  /** What was in force of its policies. */
  readonly terms: readonly Terms[]
}

/** A request with its response, and what happens to it. */
export class Exchange {
  readonly planned: PlannedRequest
  /** ms of the simulation. */
  readonly arrivedAt: number
  /** What it is charged, once it was read. */
  charges: readonly Charge[] = []
  /** The numbers of the policies that these are for. */
  places: readonly number[] = []
  /** What was in force of these policies when it was read, and how often its process had learned that before. */
  terms: readonly Terms[] = []
  knownBefore = 0
  decision: Decision | undefined = undefined
  /** When its process got the request before it, ms of the simulation. */
  askedBefore = -Infinity
  /** What must become of it, whatever its policies say; undefined: they decide it. */
  ruling: Ruling | undefined = undefined
  /** Whether no other request of its keys was decided by its process at the same time, part by part. */
  isAlone = true
  /** Whether it has waited for its turn, in place of a refusal. */
  hasWaited = false
  /** Whether its client has left while it waited. */
  hasLeftLine = false
  /** Whether its body was asked for, where that is seen. */
  isBodyRead = false
  /** Whether the application works on it, or has. */
  goesOn = false
  /** Whether the application has ended the response. */
  isEnded = false
  /** Whether all of it was handed to the connection. */
  isHandedOver = false
  /** Whether it was sent, or the client has gone. */
  isClosed = false
  /** When its slots were to be given back, ms of the simulation. */
  overAt: number | undefined = undefined
  readonly #endings: (() => void)[] = []
  readonly #closings: (() => void)[] = []

  /** What its client has waited for before. */
  readonly waited: Waited | undefined

  constructor(planned: PlannedRequest, arrivedAt: number, waited?: Waited) {
    this.planned = planned
    this.waited = waited
    this.arrivedAt = arrivedAt
  }

  /** Whether its slots are in use. */
  get isHeld(): boolean {
    return !this.isClosed
  }

  /** What it is charged in the end, units: at least, and at most. */
  get charged(): readonly [least: number, most: number] {
    const { cost, actual } = this.planned
    return this.isEnded ? [actual, actual] : [costOf(actual, false), Math.max(cost, actual)]
  }

  /** The application begins to work on it. */
  begin(): void {
    this.goesOn = true
  }

  /** The client hangs up. */
  leave(): void {
    this.close()
  }

  /** The application ends the response, and its client reads it. */
  end(now: number): void {
    if (this.isEnded) return
    this.isEnded = true
    this.isHandedOver = true
    if (this.goesOn) this.overAt ??= now
    for (const each of this.#endings) each()
    this.close()
  }

  /** The response was sent, or the client has gone. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    for (const each of this.#closings.splice(0)) each()
  }

  whenEnded(callback: () => void): void {
    this.#endings.push(callback)
    if (this.isEnded) callback()
  }

  whenClosed(callback: () => void): () => void {
    if (this.isClosed) callback()
    else this.#closings.push(callback)
    return () => {
      const place = this.#closings.indexOf(callback)
      if (place >= 0) this.#closings.splice(place, 1)
    }
  }
}

/** What a request costs, as far as it is known, units. */
export function costOf(actual: number, isEnded: boolean): number {
  return isEnded ? actual : Math.floor(actual / 2)
}

/** Two of the clients are in one network. */
const ADDRESSES: { readonly [client: string]: string } = {
  ada: '198.51.100.1',
  bob: '198.51.100.2',
  cyd: '203.0.113.3',
}

export function addressOf(client: string): string {
  return ADDRESSES[client] ?? '192.0.2.1'
}

/** The team of a client, which is its organisation too: two of them are of one. */
export function teamOf(client: string): string {
  return client === 'cyd' ? 'initech' : 'acme'
}

/** Whether a client's address is in a network, which has 24 or 32 bits in common, or is this one. */
export function isIn(network: string, client: string): boolean {
  const [address = '', bits = '32'] = network.split('/')
  const own = addressOf(client)
  return bits === '32'
    ? own === address
    : own.startsWith(address.slice(0, address.lastIndexOf('.') + 1))
}

/** The fields of a CORS preflight. */
const PREFLIGHT: { readonly [name: string]: string } = {
  origin: 'https://example.com',
  'access-control-request-method': 'GET',
}

/** What a limiter gets beside the request. */
export type Reply = Exchange | FetchReply

/** Reads and writes simulated requests, as adapters do with those of their frameworks. */
export const adapter = {
  method: ({ planned }) => (planned.exempt === 'preflight' ? 'OPTIONS' : 'GET'),
  header: ({ planned }, name) => (planned.exempt === 'preflight' ? PREFLIGHT[name] : undefined),
  peer: () => '192.0.2.1',
  address: ({ planned }) => addressOf(planned.client),
  isGone: ({ isClosed }) => isClosed,
  identity: (exchange) => exchange,
  proxyTrust: () => 'nobody',
  user: () => undefined,
  path: ({ planned: { route = '' } }) => `/${route}`,
  setField() {},
  removeField() {},
  status: () => 200,
  setStatus() {},
  send() {},
  isHeadSent: () => false,
  beforeHead() {},
  whenEnded: (exchange, callback) => exchange.whenEnded(callback),
  isHandedOver: ({ isHandedOver }) => isHandedOver,
  isClosed: ({ isClosed }) => isClosed,
  whenClosed: (exchange, callback) => exchange.whenClosed(callback),
} satisfies RequestAdapter<Exchange, Exchange>
