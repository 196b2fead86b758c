export { type Example, startExample } from './start-example.ts'
