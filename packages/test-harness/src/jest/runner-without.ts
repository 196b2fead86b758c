import * as runner from '@jest/globals'

/** Jest without the groups of tests of such titles. */
export function runnerWithout(isLeftOut: (title: string) => boolean): typeof runner {
  const describe = (title: string, define: () => void) => {
    if (!isLeftOut(title)) runner.describe(title, define)
  }
  return { ...runner, describe: describe as typeof runner.describe }
}

const ALGORITHM = /(fixed-window|sliding-window|sliding-log|token-bucket|leaky-bucket)$/

/**
 * Jest with the tests of one algorithm in the place of those of each, for the suite of a store: for another way to a store
 * on which the whole suite runs.
 */
export const runnerOfOneAlgorithm = runnerWithout((title) => {
  const [name = 'sliding-log'] = ALGORITHM.exec(title) ?? []
  return name !== 'sliding-log'
})
