/** When to send what: a way in which traffic comes. */
export interface Pattern {
  readonly name: string
  /** Describes it in a few words. */
  readonly hint: string
  /** The moments to send a request at, in order: ms on the server's clock, from `now` on. */
  plan(now: number): readonly number[]
}
