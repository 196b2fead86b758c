import { writeFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import { Clients } from '../clients.ts'
import type { FormatName } from '../formats/reading.ts'
import { masked } from '../mask.ts'
import { LogInput } from './read-log.ts'
import { sourcesOf } from './source.ts'

const { file } = scratch()

function inputOf(content: string, format?: FormatName): LogInput {
  return new LogInput({
    sources: sourcesOf([file('log.txt', content)]),
    format,
    reading: { clients: new Clients(), fields: {}, whole: false, mask: masked },
  })
}

function read(content: string, format?: FormatName, input = inputOf(content, format)) {
  const nothing = async () => {}
  return input.read(nothing, nothing, new AbortController().signal)
}

it('a line of JSON that is nested deeply is read, or counts as unreadable', async () => {
  const deep = `${'['.repeat(400_000)}${']'.repeat(400_000)}`
  const lines = [
    `{"time":1,"ip":"x","deep":${deep}}`,
    `{"time":${deep},"ip":"x"}`,
    `{"time":1,"ip":${deep}}`,
    deep,
    deep.slice(0, -1),
  ]
  const input = inputOf(lines.join('\n'), 'json')
  await read('', 'json', input)
  expect(input).toMatchObject({ lines: 5, unreadable: 4 })
  expect(input.unreadableLines.map(({ reason }) => reason)).toEqual([
    'the time is an object: name one of its fields',
    'the key is an object: name one of its fields',
    'no JSON object',
    'no JSON',
  ])
})

it.each([
  ['combined', 'x - - [31/Dec/1969:23:59:59 +0000] "GET / HTTP/1.1" 200 5'],
  ['combined', 'x - - [01/Jan/1970:00:00:00 +0100] "GET / HTTP/1.1" 200 5'],
  ['combined', 'x - - [01/Jan/0099:00:00:00 +0000] "GET / HTTP/1.1" 200 5'],
  ['json', '{"time":-1,"ip":"x"}'],
  ['json', '{"time":"-1.5","ip":"x"}'],
  ['json', '{"time":"1969-12-31T23:59:59.999Z","ip":"x"}'],
] as const)(
  'a line before 1970 counts as unreadable, with the reason: %s %s',
  async (format, line) => {
    await expect(read(line, format)).rejects.toThrow('line 1: the time is before 1970')
  },
)

it('a line beyond the year 5138 counts as unreadable, in a combined log too', async () => {
  const line = 'x - - [01/Jan/9999:00:00:00 +0000] "GET / HTTP/1.1" 200 5'
  await expect(read(line, 'combined')).rejects.toThrow('line 1: the time is after the year 5138')
})

it('where reading ends early, the line in hand does not count', async () => {
  const content = '{"time":1,"ip":"x"}\n{"time":'
  const input = inputOf(content, 'json')
  const ending = new AbortController()
  const end = async () => ending.abort()
  await input.read(() => {}, end, ending.signal)
  expect(input).toMatchObject({ lines: 1, unreadable: 0 })
})

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

it.each([
  ['Zstandard', [0x28, 0xb5, 0x2f, 0xfd, 0x04], 'zstd -dc'],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], 'xz -dc'],
  ['bzip2', [0x42, 0x5a, 0x68, 0x39], 'bzip2 -dc'],
])('of a log packed by %s it is said how to pipe it', async (name, bytes, unpack) => {
  const path = file('log.packed', '')
  writeFileSync(path, Buffer.from(bytes))
  const reading = { clients: new Clients(), fields: {}, whole: false, mask: masked }
  const input = new LogInput({ sources: sourcesOf([path]), format: undefined, reading })
  await expect(read('', undefined, input)).rejects.toThrow(
    `${path}: this is ${name}; pipe it:  ${unpack} ${path} | sluice replay`,
  )
})

it.each([
  ['{"time":1795269630,"ip":"x"}', true],
  ['{"time":1795269630,"ip":"x"}\n{"time":1795269630.5,"ip":"x"}', false],
])('it is known whether the times have fractions: %s', async (content, expected) => {
  const input = inputOf(content)
  await read('', undefined, input)
  expect(input.hasWholeSeconds).toBe(expected)
})
