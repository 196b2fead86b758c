import type { AlgorithmParams, OwnParams } from '../../algorithms/algorithm.ts'
import type { Keyspace } from '../store.ts'

/** A keyspace that limiters use. */
export interface KeptKeyspace {
  readonly prefix: string
  readonly name: string
  /** The params of its limits, as {@link formatParams} writes them; `-`: they differ by request. */
  readonly params: string
  /** Until when it is kept, ms on the store's clock. */
  readonly until: number
}

/** `100`, `5,burst=20`, `5,maxDelay=500` */
export function formatParams({ limit, burst, maxDelayMs }: AlgorithmParams): string {
  const options = burst === undefined ? '' : `,burst=${burst}`
  return `${limit}${options}${maxDelayMs === undefined ? '' : `,maxDelay=${maxDelayMs}`}`
}

/** The limit of a keyspace and its algorithm's options: what may differ between policies that share a count. */
export function termsOf({ params }: Pick<Keyspace, 'params'>): string {
  return params === undefined ? 'a function of the request' : formatParams(params)
}

/** Where documents may change a policy. */
export interface KeptLive {
  readonly id: string
  /** The least and the most units of a limit that a document may set. */
  readonly min: number
  readonly max: number
  /** The share of its clients that the code refuses, 0 … 1. */
  readonly enforced: number
}

/** `api,0,500`; if the code refuses nobody `api,0,500,0` */
export function formatLive({ id, min, max, enforced }: KeptLive): string {
  return `${encodeURIComponent(id)},${min},${max}${enforced === 1 ? '' : `,${enforced}`}`
}

/** Reads what documents may change from the params of a keyspace; undefined: nothing. */
export function parseLive(params: string): KeptLive | undefined {
  const parts = /;live=([^,]+),(\d+),(\d+)(?:,([\d.e-]+))?$/.exec(params) ?? []
  const [, id, min, max, enforced = 1] = parts
  if (id === undefined) return undefined
  try {
    const [least, most, share] = [min, max, enforced].map(Number) as [number, number, number]
    return { id: decodeURIComponent(id), min: least, max: most, enforced: share }
  } catch {
    return undefined
  }
}

/** Reads the text of {@link formatParams}; undefined for any other text. */
export function parseParams(text: string): OwnParams | undefined {
  const parts = /^(\d+)(?:,burst=(\d+))?(?:,maxDelay=(\d+))?(?:;live=\S+)?$/.exec(text)
  if (parts === null) return undefined
  const [limit, burst, maxDelayMs] = parts
    .slice(1)
    .map((part) => (part === undefined ? part : Number(part)))
  return { limit: limit as number, burst, maxDelayMs }
}
