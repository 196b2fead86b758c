import { createHook } from 'node:async_hooks'
import { expect, jest, test } from '@jest/globals'

/** What `jest --detectOpenHandles` asks of a resource. */
type Resource = { hasRef?(): boolean }

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
