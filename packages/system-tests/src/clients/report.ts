/** What each client got at last, and after how long, ms. */
export type Report = readonly {
  readonly name: string
  readonly status: number
  readonly ms: number
}[]
