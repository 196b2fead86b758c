import type { ConnectFlags } from './connect.ts'

/** What entries are ordered by. */
export const ORDERS = ['share', 'used', 'rate'] as const
export type Order = (typeof ORDERS)[number]

/** What all commands on a store take, as it was typed. */
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
