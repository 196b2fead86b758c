import * as runner from '@jest/globals'
import { memoryStore } from '@sluice/core'
import { storeSuite } from '@sluice/test-suites'

storeSuite(runner, 'the memory store', {
  mode: 'sync',
  inspects: true,
  create: (clock) => memoryStore({ clock }),
})
