import { expect, jest, test } from '@jest/globals'
import Fastify from 'fastify'
import { rateLimit } from './index.ts'

const OPTIONS = { limit: 100, window: '1m' } as const

test('a release candidate of the next Fastify is served, with one warning', async () => {
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {})
  for (const version of ['5.99.0', '6.0.0-rc.1', '6.0.0-rc.1']) {
    const app = Fastify()
    Object.defineProperty(app, 'version', { value: version })
    await app.register(rateLimit, OPTIONS)
    await app.close()
  }
  const codes = warn.mock.calls.map(([, options]) => (options as { code: string }).code)
  expect(codes).toEqual(['SLUICE_FRAMEWORK_UNTESTED'])
  expect(warn.mock.calls[0]?.[0]).toContain('Fastify 6.0.0-rc.1')
  warn.mockRestore()
})
