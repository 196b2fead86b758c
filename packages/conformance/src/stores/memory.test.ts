import { memoryStore } from '@sluice/core'
import { storeSuite } from './suite.ts'

storeSuite('the memory store', { mode: 'sync', create: (clock) => memoryStore({ clock }) })
