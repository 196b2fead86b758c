import { expect, test } from '@jest/globals'
import { sampleReport } from '../../testing/sample-report.ts'
import { dataElement } from './data.ts'

test('no text in the data ends the element that holds them, and each is read as it was', () => {
  const { demand } = sampleReport()
  const text = '</script><!--' as unknown as number
  const { markup } = dataElement(sampleReport({ demand: [{ ...demand[0]!, limits: [text] }] }))
  expect(markup.match(/</g)).toHaveLength(2)
  const json = markup.replace(/^<[^>]*>|<[^>]*>$/g, '')
  expect(JSON.parse(json).demand[0].limits).toEqual([text])
})
