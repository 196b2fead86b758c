import { defineWorker } from '@sluice/test-harness/processes'
import { prepare } from './work.ts'

defineWorker(prepare)
