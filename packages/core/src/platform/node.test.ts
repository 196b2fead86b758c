import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import { expect, jest, test } from '@jest/globals'
import { inBackground } from './node.ts'

/** What `jest --detectOpenHandles` asks of a resource. */
type Resource = { hasRef?(): boolean }

test('what is called in the background has nothing of the request that asked for it', async () => {
  const request = new AsyncLocalStorage<string>()
  const found = new Promise((resolve) => {
    request.run('of ada', () => void inBackground(() => resolve(request.getStore()), 0))
  })
  expect(await found).toBeUndefined()
})

test('tools that look for open handles find none', () => {
  const found = new Map<string, boolean | undefined>()
  const hook = createHook({
    init: (_id, type, _trigger, resource: Resource) => found.set(type, resource.hasRef?.()),
  }).enable()
  jest.isolateModules(() => {
    const { inBackground } = require('./node.ts') as typeof import('./node.ts')
    const cancel = inBackground(() => {}, 1000)
    hook.disable()
    cancel()
  })
  expect(found.get('SluiceBackground')).toBe(false)
})
