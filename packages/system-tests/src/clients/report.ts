/** The last answer of each client, and how long it took, ms. */
export type Report = readonly {
  readonly name: string
  readonly status: number
  readonly ms: number
}[]
