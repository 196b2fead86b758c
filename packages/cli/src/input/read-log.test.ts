import { describe, expect, it } from '@jest/globals'
import type { FormatName } from '../formats/format.ts'
import { Clients } from '../log/clients.ts'
import { masked } from '../report/mask.ts'
import { scratch } from '../testing/scratch.ts'
import { LogInput } from './read-log.ts'
import { sourcesOf } from './source.ts'

const { file } = scratch()

function read(content: string, format?: FormatName): Promise<void> {
  const input = new LogInput({
    sources: sourcesOf([file('log.txt', content)]),
    format,
    reading: { clients: new Clients(), fields: {}, whole: false, mask: masked },
  })
  const nothing = async () => {}
  return input.read(nothing, nothing, new AbortController().signal)
}

describe('a reason names no client', () => {
  it.each([
    [
      'a time',
      '{"time":"ann@example.com","ip":"192.0.2.1"}',
      'line 1: the time "xxx@xxxxxxx.xxx" is neither',
    ],
    ['a time that is an object', '{"time":{"of":"ann"},"ip":"x"}', 'line 1: the time is an object'],
    ['names', '{"when":1,"who":"ann"}', 'the line has when, who'],
    ['addresses as names', '{"192.0.2.1":1,"who":2}', 'the line has 000.0.0.0, xxx'],
    ['the first line', 'ann at [2001:db8::7]', 'it begins with "xxx xx [0000:xx0::0]"'],
  ])('for %s', async (_, content, reason) => {
    await expect(read(content)).rejects.toThrow(reason)
  })

  it('for a CSV without a header', async () => {
    const log = '1795269600,192.0.2.1,ann\n1795269601,192.0.2.2,bob\n'
    await expect(read(log, 'csv')).rejects.toThrow('the line has 0000000000, 000.0.0.0, xxx')
  })
})
