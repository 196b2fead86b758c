export { bundle, startBundle } from './bundle.ts'
export { type RunOptions, runInProcesses } from './fork.ts'
export { type Program, untilListening } from './until-listening.ts'
export { defineWorker } from './worker.ts'
