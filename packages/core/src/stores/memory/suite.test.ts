import * as runner from '@jest/globals'
import { storeSuite } from '@sluice/test-suites'
import { memoryStore } from '../../index.ts'

storeSuite(runner, 'the memory store', {
  mode: 'sync',
  inspects: true,
  create: (clock) => memoryStore({ clock }),
})
