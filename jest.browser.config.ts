/**
 * The tests of pages, which need a browser: npm run test:browser.
 *
 * @jest-config-loader esbuild-register
 */
import type { Config } from 'jest'
import base from './jest.config.ts'

const config: Config = {
  ...base,
  testMatch: ['**/*.browser.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
  // axe takes seconds for a page with long tables.
  testTimeout: 60_000,
}

export default config
