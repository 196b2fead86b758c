import type { ConnectFlags } from './connect.ts'

/** The orders of entries. */
export const ORDERS = ['share', 'used', 'rate'] as const
export type Order = (typeof ORDERS)[number]

/** The options of all commands on a store, as they were typed. */
export interface StoreFlags extends ConnectFlags {
  readonly prefix: string
  readonly policy?: string
}

export interface KeyFlags extends StoreFlags {
  readonly ipv6Prefix: string
  readonly json?: boolean
}

export interface ChangeFlags extends KeyFlags {
  readonly yes?: boolean
}

export interface LimitFlags extends ChangeFlags {
  readonly for?: string
  readonly end?: boolean
}

export interface TopFlags extends StoreFlags {
  readonly count: string
  readonly every: string
  readonly sort: Order
  readonly once?: boolean
  readonly json?: boolean
}

export interface ServeFlags extends StoreFlags {
  readonly host: string
  readonly port: string
  readonly every: string
  readonly ipv6Prefix: string
}
