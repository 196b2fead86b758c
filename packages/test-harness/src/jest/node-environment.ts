import { AsyncLocalStorage } from 'node:async_hooks'
import diagnostics from 'node:diagnostics_channel'
import { TestEnvironment } from 'jest-environment-node'
import { optimizeLater } from '../processes/optimize-later.ts'
import { keepCompiled } from './compiled-modules.ts'

optimizeLater()

const { run } = AsyncLocalStorage.prototype
const used = new Set<AsyncLocalStorage<unknown>>()

AsyncLocalStorage.prototype.run = function <R>(
  this: AsyncLocalStorage<unknown>,
  store: unknown,
  act: (...args: unknown[]) => R,
  ...args: unknown[]
): R {
  used.add(this)
  return run.call(this, store, act as () => unknown, ...(args as [])) as R
}

const { channel, tracingChannel } = diagnostics
/** The channels of all test files that this process runs. */
const channels = new Set<unknown>()

/**
 * Where nobody has a channel any more, Node 20 forgets its name some time later, although another test file may have
 * made a new one of that name: what is published there reaches nobody who subscribes from then on.
 */
diagnostics.channel = (name) => {
  const found = channel(name)
  channels.add(found)
  return found
}
diagnostics.tracingChannel = ((names: string) => {
  const found = tracingChannel(names)
  for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const)
    channels.add(found[event])
  return found
}) as typeof tracingChannel

/**
 * Jest's environment for Node, which also ends the `AsyncLocalStorage`s of a test file with the file.
 * Jest itself makes one for each, and Node 20 and 22 visit all that were ever used in a process for
 * every new promise: after 30 files, an `await` took nine times as long. It keeps what the file has
 * compiled for the next one.
 */
export default class NodeEnvironment extends TestEnvironment {
  override async teardown(): Promise<void> {
    for (const storage of used) storage.disable()
    used.clear()
    keepCompiled()
    await super.teardown()
  }
}
