import { expect, it } from '@jest/globals'
import { prepare } from './replay-options.ts'

it('an exempt route stays exempt, and the listener of each other route identifies it', () => {
  const routes = { '/health': false, 'POST /login': { limit: 5 } } as const
  const { options, routes: named } = prepare({ limit: 9, window: '1m', routes })
  const login = options.routes?.['POST /login'] as { onDecision: () => void }
  expect(options.routes).toMatchObject({ '/health': false, 'POST /login': { limit: 5 } })
  expect([...named]).toEqual([[login.onDecision, 'POST /login']])
})
