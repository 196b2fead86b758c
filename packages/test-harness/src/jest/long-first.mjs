import TestSequencer from '@jest/test-sequencer'

/** Short files that take long: most of them play a whole suite on a real store. */
const LONG = /(\/suite|-suite|\.cli|\/budget\/memory|\/live\/src\/smoke|\/overload)\.test\.ts$/

/**
 * The order of the test files. Without their times, Jest begins with the largest: then short ones
 * that take long keep a worker busy at the end, when the others have nothing left.
 */
export default class LongFirst extends TestSequencer {
  sort(tests) {
    const ordered = super.sort(tests)
    const isLong = ({ path }) => LONG.test(path)
    return [...ordered.filter(isLong), ...ordered.filter((test) => !isLong(test))]
  }
}
