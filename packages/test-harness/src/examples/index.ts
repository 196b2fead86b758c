export { awayFromEdge, withinWindow } from './away-from-edge.ts'
export { isOpenToOthers } from './elsewhere.ts'
export { type Example, startExample } from './start-example.ts'
