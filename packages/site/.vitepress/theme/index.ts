export { default } from '../../src/page/theme.ts'
