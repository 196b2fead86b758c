import * as runner from '@jest/globals'
import { runnerWithout } from './runner-without.ts'

/**
 * Whether each framework runs its whole suite on every store. Nothing that a store does depends on the
 * framework, so by default each runs it on one: one version of Express and of Hono on Redis, one for
 * each of core's two exchanges, and all others in memory.
 */
export const everyStore = process.env.SLUICE_EVERY_STORE === '1'

/** Tests of the adapter suite that see nothing of a framework but that it hands over the request. */
const OF_CORE = [
  'limits, windows and costs by request',
  'functions that get the key',
  'windows of the calendar',
  'budgets in tokens',
]

/**
 * Registers the tests of an adapter suite that depend on a framework. The whole suite runs once for each of core's
 * two exchanges: on Node's own server, and on a function of a `Request`.
 */
export const frameworkRunner = everyStore
  ? runner
  : runnerWithout((title) => OF_CORE.some((each) => title.startsWith(each)))
