export type { Program } from '../processes/until-listening.ts'
export { awayFromEdge, withinWindow } from './away-from-edge.ts'
export { isOpenToOthers } from './elsewhere.ts'
export { startExample } from './start-example.ts'
