import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Clients } from '../clients.ts'
import { unmasked } from '../mask.ts'
import { openReader } from './open-reader.ts'
import { FORMATS } from './reading.ts'

const LOGS = {
  combined:
    '\ufeff192.0.2.1 - - [21/Nov/2026:14:00:30 +0000] "GET /é HTTP/1.1" 200 5\r\n\r\nnothing\n' +
    '192.0.2.2 - - [21/Nov/2026:14:00:31 +0000] "GET / HTTP/1.1" 200 5',
  json: '{"time":1795269630,"ip":"ä"}\n\n[]\r\n{"time":1795269631,"ip":"b"}\n',
  csv: 'time,ip\n1795269630,"a ""b"",\nc"\nnoon,x\n\n1795269631,é\n',
}

/** Reads a log in pieces that end where they may. */
async function read(format: (typeof FORMATS)[number], cuts: readonly number[]) {
  const found: unknown[] = []
  const clients = new Clients()
  const reader = openReader(
    format,
    { clients, fields: {}, whole: false, mask: unmasked },
    {
      entry: ({ time, client }) => found.push([time, clients.key(client)]),
      unreadable: (line, text, reason) => found.push([line, text, reason]),
    },
  )
  const bytes = Buffer.from(LOGS[format])
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b)
  // As files are read: always in the same memory.
  const memory = Buffer.alloc(bytes.length)
  let from = 0
  for (const end of ends) {
    bytes.copy(memory, 0, from, end)
    await reader.write(memory.subarray(0, end - from))
    memory.fill(0)
    from = end
  }
  await reader.end()
  return found
}

describe.each(FORMATS)('a %s log', (format) => {
  it('reads the same, wherever it is cut into chunks', async () => {
    const whole = await read(format, [])
    expect(whole).toHaveLength(3)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
        expect(await read(format, cuts)).toEqual(whole)
      }),
      { numRuns: 150 },
    )
  })
})
