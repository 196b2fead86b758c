import { SluiceError } from '@sluice/core'

/**
 * A middleware was called with something else than the requests and responses of its framework: with
 * a test double that lacks what it needs, or in another framework.
 */
export function notOfFramework(option: string, expected: string, received: unknown): SluiceError {
  return new SluiceError({
    code: 'SLUICE_REQUEST',
    option,
    expected,
    received,
    fix: 'Use the package of your framework, and return a response. In a test, send a real request, or use node-mocks-http.',
  })
}
