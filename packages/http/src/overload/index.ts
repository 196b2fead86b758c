export type { OverloadClassEvent, OverloadEvent } from '@sluice/core'
export { LoadShedder } from './load-shedder.ts'
export type { ClassOptions, QueueOptions } from './options.generated.ts'
export type { ShedLoadOptions } from './shed-load-options.ts'
