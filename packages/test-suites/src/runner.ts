/**
 * The functions of a test runner that the suites need. The modules of Jest, Vitest and `node:test` are runners as
 * they are; for Mocha write `{ describe, test: it }`.
 */
export interface Runner {
  describe(name: string, define: () => void): unknown
  test(name: string, run: () => Promise<void>): unknown
}
