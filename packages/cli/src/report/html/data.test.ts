import { expect, test } from '@jest/globals'
import { dataElement } from './data.ts'

test('no text in the data ends the element that holds them, and each is read as it was', () => {
  const limits = ['</script><!--']
  const demand = [{ bins: [{ from: 1, to: 1, clients: 1 }], limits }]
  const { markup } = dataElement({ timeline: {}, runs: [], demand } as never)
  expect(markup.match(/</g)).toHaveLength(2)
  const json = markup.replace(/^<[^>]*>|<[^>]*>$/g, '')
  expect(JSON.parse(json).demand[0].limits).toEqual(limits)
})
