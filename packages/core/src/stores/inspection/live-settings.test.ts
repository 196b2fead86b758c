import { expect, test } from '@jest/globals'
import { type SettingsLayer, writePolicies } from '../documents/policy-document.ts'
import type { Documents } from '../store.ts'
import { withSettings } from './live-settings.ts'

test('settings take the place of those of the code, until they end, and leave the others', async () => {
  const paramsWith = async (params: string, layers: SettingsLayer[], now: number) => {
    const text = writePolicies({ policies: { api: layers }, history: [] })
    const documents = { read: async () => ({ text, at: now }) } as unknown as Documents<'async'>
    const kept = { prefix: 'sluice', name: 'api', params, until: 100 }
    const [found] = await withSettings([kept], documents, 'sluice', now)
    return found?.params
  }
  const layers = [{ set: { limit: 9 }, until: 10 }] as SettingsLayer[]
  for (const option of ['burst=20', 'maxDelay=500']) {
    const code = `5,${option};live=api,0,500`
    expect(await paramsWith(code, layers, 9)).toBe(`9,${option};live=api,0,500`)
    expect(await paramsWith(code, layers, 10)).toBe(code)
  }
})
