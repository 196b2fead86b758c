import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Clients } from '../clients.ts'
import { unmasked } from '../mask.ts'
import { openReader } from './open-reader.ts'

/** Keys as they are read, and the numbers of lines that can't be, with the reason. */
async function read(log: string) {
  const clients = new Clients()
  const keys: string[] = []
  const lost: [line: number, reason: string][] = []
  const reader = openReader(
    'csv',
    { clients, fields: {}, whole: false, mask: unmasked },
    {
      entry: ({ client }) => keys.push(clients.key(client)),
      unreadable: (line, _, reason) => lost.push([line, reason]),
    },
  )
  await reader.write(Buffer.from(log))
  await reader.end()
  return { keys, lost }
}

const HEADER = 'time,ip,path\n'
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `1795269600,c${from + i},"/"\n`).join('')
const keys = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => `c${from + i}`)
const OPEN = 'a quoted field does not end'

describe('a quote that is never closed', () => {
  it.each([
    ['at the end of a line', '1795269600,evil,"/\n'],
    ['at the beginning', '"1795269600,evil,/\n'],
    ['and then another one', '1795269600,evil,"/\n1795269600,"evil,/\n'],
  ])('loses its line and no other: %s', async (_, evil) => {
    const log = `${HEADER}${rows(0, 1000)}${evil}${rows(1000, 3000)}`
    const { keys: found, lost } = await read(log)
    expect(found).toEqual(keys(0, 3000))
    expect(lost).toEqual(
      evil
        .trim()
        .split('\n')
        .map((_, i) => [1002 + i, OPEN]),
    )
  })

  it('loses its line where no other quote follows', async () => {
    const plain = (count: number) => '1795269600,x,/\n'.repeat(count)
    const log = `${HEADER}${plain(1000)}1795269600,evil,"/\n${plain(200_000)}`
    const { keys, lost } = await read(log)
    expect(keys).toHaveLength(201_000)
    expect(lost).toEqual([[1002, OPEN]])
  })

  it('in every line loses every line, in a time that grows with them', async () => {
    const { keys, lost } = await read(HEADER + '1795269600,x,"a\n'.repeat(100_000))
    expect([keys.length, lost.length]).toEqual([0, 100_000])
  })

  it('is one in the last line', async () => {
    const { keys: found, lost } = await read(`${HEADER}${rows(0, 2)}1795269600,x,"/`)
    expect(found).toEqual(keys(0, 2))
    expect(lost).toEqual([[4, OPEN]])
  })

  it('does not hide a line that is too long', async () => {
    const long = 'a'.repeat(1024 * 1024 + 1)
    const { keys: found, lost } = await read(`${HEADER}1,x,"\n${rows(0, 1)}${long}\n${rows(1, 2)}`)
    expect(found).toEqual(keys(0, 2))
    expect(lost.map(([line]) => line)).toEqual([2, 4])
  })
})

describe('a record', () => {
  it('is read as it was written, whatever its fields contain', async () => {
    const field = fc.string({
      unit: fc.constantFrom('a', '"', ',', '\n', ';', ' ', 'é'),
      maxLength: 8,
    })
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    await fc.assert(
      fc.asyncProperty(fc.array(field.map((text) => `k${text}`)), async (given) => {
        const lines = given.map((key) => `1795269600,${quoted(key)},${quoted(key)}\n`)
        expect(await read(HEADER + lines.join(''))).toEqual({ keys: given, lost: [] })
      }),
    )
  })

  it('may have quotes within a field that has none around it, and other delimiters', async () => {
    const { keys } = await read(`${HEADER}1795269600,a"b";c,x\n`)
    expect(keys).toEqual(['a"b";c'])
  })

  it('has as many fields as the header, and nothing behind a quote', async () => {
    const log = `${HEADER}1795269600,x\n1795269600,x,/,9\n1795269600,"x"y,/\n`
    expect((await read(log)).lost).toEqual([
      [2, 'it has 2 fields, and the header 3'],
      [3, 'it has 4 fields, and the header 3'],
      [4, 'a quoted field goes on behind its quote'],
    ])
  })

  it('may have a hundred lines, and no more', async () => {
    const record = (lines: number) => `1795269600,x,"${'\n'.repeat(lines - 1)}"\n`
    expect(await read(HEADER + record(100))).toEqual({ keys: ['x'], lost: [] })
    const { keys, lost } = await read(HEADER + record(101) + rows(0, 1))
    expect(keys).toEqual(['c0'])
    expect(lost).toHaveLength(2)
  })
})
