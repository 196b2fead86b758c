export { isOpenToOthers } from './elsewhere.ts'
export { type Example, startExample } from './start-example.ts'
