/** What a decision says about one policy. */
export interface Said {
  readonly admitted: boolean
  readonly remaining: number
  readonly resetMs: number
  readonly retryAfterMs: number
  /** What counts refusals has counted the request. */
  readonly counted?: boolean | undefined
  /** The client's own limit, if that has decided. */
  readonly own?: { readonly units: number } | undefined
}

/** Reports that something happened which must not. */
export type Fail = (check: string, what: string) => void
