import { storeSuite } from '@sluice/test-suites'
import { memoryStore } from '../../index.ts'

storeSuite('the memory store', { mode: 'sync', create: (clock) => memoryStore({ clock }) })
