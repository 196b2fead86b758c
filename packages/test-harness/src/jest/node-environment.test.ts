import { channel, tracingChannel } from 'node:diagnostics_channel'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from '@jest/globals'

test('the channels of a test file stay, so that Node 20 does not take a later one away with them', async () => {
  const made = [channel('harness:one'), tracingChannel('harness:two').asyncEnd]
  const references = made.splice(0).map((each) => new WeakRef(each))
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  // What was made in this turn is not collected in it.
  await new Promise(setImmediate)
  collect()
  expect(references.map((each) => each.deref()?.name)).toEqual([
    'harness:one',
    'tracing:harness:two:asyncEnd',
  ])
})
