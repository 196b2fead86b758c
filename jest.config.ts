/**
 * The docblock lets Node 20 read this file, which cannot run TypeScript by itself.
 *
 * @jest-config-loader esbuild-register
 */
import type { Config } from 'jest'

const config: Config = {
  roots: ['<rootDir>/packages', '<rootDir>/examples'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', '\\.browser\\.test\\.ts$'],
  modulePathIgnorePatterns: ['/dist/'],
  testEnvironment: 'node',
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        jsc: {
          target: 'es2022',
          // As Nest's decorators are.
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  testTimeout: 60_000,
  maxWorkers: 2,
}

export default config
