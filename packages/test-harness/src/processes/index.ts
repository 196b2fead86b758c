export { bundle, startBundle } from './bundle.ts'
export { type RunOptions, runInProcesses } from './fork.ts'
export { defineWorker } from './worker.ts'
