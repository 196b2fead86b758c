import { expect, it } from '@jest/globals'
import { prepare } from './replay-options.ts'

it('an exempt route stays exempt, and the others only decide, too', () => {
  const routes = { '/health': false, 'POST /login': { limit: 5 } } as const
  const { routes: prepared } = prepare({ limit: 9, window: '1m', routes })
  expect(prepared).toMatchObject({ '/health': false, 'POST /login': { limit: 5, dryRun: true } })
})
