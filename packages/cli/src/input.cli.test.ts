// What may come in: real files, and standard input.

import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { scratch } from '@sluice/test-harness/jest'
import type { Report } from './report/report.ts'
import { complaints, runCli } from './testing/run-cli.ts'

const { folder, file } = scratch()

const LIMIT = ['--limit', '2', '--window', '1m', '--algorithm', 'sliding-log', '--show-clients']

/** A line of a combined log, so many seconds after 14:00. */
function line(second: number, client = '203.0.113.7', request = 'GET / HTTP/1.1'): string {
  const time = new Date(Date.UTC(2026, 10, 21, 14, 0, second)).toISOString().slice(11, 19)
  return `${client} - - [21/Nov/2026:${time} +0000] "${request}" 200 512 "-" "curl/8.0"`
}

const lines = (...each: string[]) => each.map((one) => `${one}\n`).join('')

async function replay(args: readonly string[], input?: string | Buffer): Promise<Report> {
  const { code, stdout, stderr } = await runCli(['replay', ...args, ...LIMIT, '--json'], input)
  expect({ code, stderr: complaints(stderr) }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout) as Report
}

async function failure(args: readonly string[], input?: string | Buffer) {
  const { code, stdout, stderr } = await runCli(['replay', ...args, ...LIMIT], input)
  expect(stdout).toBe('')
  return { code, stderr }
}

describe('a log', () => {
  const log = lines(line(0), line(10), line(20), line(30, '192.0.2.1'))
  const figures = { requests: 4, clients: 2, runs: [{ admitted: 3, refused: 1 }] }

  it('is a file, or several in their order', async () => {
    expect(await replay([file('one.txt', log)])).toMatchObject(figures)
    const [first, second] = [
      file('a.txt', lines(line(0), line(10))),
      file('b.txt', lines(line(20))),
    ]
    expect(await replay([first, second])).toMatchObject({
      source: { names: ['a.txt', 'b.txt'], lines: 3, format: 'combined' },
      runs: [{ admitted: 2, refused: 1 }],
    })
  })

  it('is unpacked by its content, of several parts too, not by its name', async () => {
    const [begin, end] = [log.slice(0, 100), log.slice(100)]
    const packed = Buffer.concat([gzipSync(begin), gzipSync(end)])
    expect(await replay([file('packed.txt', packed)])).toMatchObject(figures)
    expect(await replay([file('plain.gz', log)])).toMatchObject(figures)
  })

  it('comes from standard input, packed or not, with and without a name', async () => {
    expect(await replay(['-'], log)).toMatchObject({ ...figures, source: { names: ['-'] } })
    expect(await replay([], gzipSync(log))).toMatchObject(figures)
  })

  it('is known by the first line that can be read', async () => {
    const { source } = await replay([], lines('# a remark', '', '{"time":1795270230,"ip":"x"}'))
    expect(source).toMatchObject({ format: 'json', lines: 2, unreadable: 1 })
  })

  it('is put in order, and what comes too late is counted', async () => {
    const mixed = lines(line(60), line(10), line(0), line(100), line(30, '192.0.2.1'))
    const { source, runs } = await replay([file('mixed.txt', mixed)])
    expect(source).toMatchObject({ late: 1, fromMs: Date.UTC(2026, 10, 21, 14), lines: 5 })
    expect(source.toMs).toBe(Date.UTC(2026, 10, 21, 14, 1, 40))
    // At 0, 10, 60 and 100 s: never more than two in a minute.
    expect(runs[0]).toMatchObject({ admitted: 5, most: [{ units: 2 }] })
  })

  it('stays in order after a line from the future, even if that comes first', async () => {
    const future = line(0, '192.0.2.1').replace('2026', '2099')
    const log = lines(future, ...[0, 10, 70, 80].map((second) => line(second)), future, line(90))
    const { source, runs } = await replay([], log)
    expect(source).toMatchObject({ lines: 7, unreadable: 0, early: 2, late: 0 })
    expect(source.fromMs).toBe(Date.UTC(2026, 10, 21, 14))
    expect(source.toMs).toBe(Date.UTC(2026, 10, 21, 14, 1, 30))
    // Of the one client 0, 10, 70, 80 are admitted, and 90 is not.
    expect(runs[0]).toMatchObject({ admitted: 6, refused: 1 })
  })

  it('counts IPv6 clients by their /56', async () => {
    const addresses = ['2001:db8:1:200::1', '2001:DB8:1:2ff::2', '2001:db8:1:300::1']
    const log = lines(...addresses.map((address) => line(0, address)))
    expect(await replay([file('v6.txt', log)])).toMatchObject({ clients: 2 })
  })

  it('may be of users', async () => {
    const user = (name: string) => line(0).replace(' - - ', ` - ${name} `)
    const log = lines(user('ann'), user('ann'), user('ann'), user('bob'), user('-'))
    const { clients, runs } = await replay([file('users.txt', log), '--key', 'user'])
    expect(clients).toBe(3)
    expect(runs[0]?.mostRefused).toMatchObject([{ client: 'user:ann', requests: 3, refused: 1 }])
  })
})

describe('fields with names', () => {
  it('are in JSON lines, at dotted paths', async () => {
    const log = lines(
      '{"at":"2026-11-21T14:00:00Z","u":{"id":5},"n":1}',
      '{"at":"2026-11-21T15:00:01.5+01:00","u.id":5,"n":2}',
      '{"at":1795269630,"u":{"id":"5"},"n":1}',
      '{"at":1795269631000,"u":{"id":6},"n":0}',
    )
    const fields = ['--time', 'at', '--key', 'u.id', '--cost', 'n']
    expect(await replay([file('log.jsonl', log), ...fields])).toMatchObject({
      source: { format: 'json', unreadable: 0 },
      clients: 2,
      runs: [{ admitted: 3, refused: 1, mostRefused: [{ client: '5', requests: 3 }] }],
    })
  })

  it('are found by their usual names', async () => {
    const log = lines('{"@timestamp":"2026-11-21T14:00:00Z","request":{"remote_ip":"192.0.2.1"}}')
    expect(await replay([file('caddy.jsonl', log)])).toMatchObject({ requests: 1, clients: 1 })
  })

  it('are in columns of CSV, quoted or not', async () => {
    const log =
      '\ufefftime;who;price\r\n"2026-11-21 14:00:00";"a;""b""\nc";1\r\n\r\n1795269600;x;2\r\n1795269601;x;1\r\n'
    const { source, runs, clients } = await replay([
      file('log.csv', log),
      '--key',
      'who',
      '--cost',
      'price',
    ])
    expect(source).toMatchObject({ format: 'csv', lines: 3, unreadable: 0 })
    expect(clients).toBe(2)
    expect(runs[0]).toMatchObject({ admitted: 2, mostRefused: [{ client: 'x', requests: 2 }] })
  })

  it('are reported when they are missing', async () => {
    const { code, stderr } = await failure([file('other.jsonl', '{"when":1,"who":2}\n')])
    expect(code).toBe(1)
    expect(stderr).toContain(
      'no time under a usual name: name it with --time; the line has when, who',
    )
  })

  it('have times, keys and costs that can be read, or the line counts as unreadable', async () => {
    const log = lines(
      'time,ip,cost',
      '1795269600,x,1',
      'noon,x,1',
      '1795269600,,1',
      '1795269600,x,1.5',
      '1795269600,x,-1',
      '1795269600,x,1,9',
    )
    const { source } = await replay([file('wrong.csv', log), '--cost', 'cost'])
    expect(source).toMatchObject({ lines: 6, unreadable: 5 })
    expect(source.unreadableLines.map((each) => [each.line, each.reason])).toEqual([
      [3, 'the time "noon" is neither epoch seconds, epoch ms nor ISO 8601'],
      [4, 'no key under a usual name: name it with --key; the line has time, ip, cost'],
      [5, 'the cost at cost is no integer from 0 to 2^53 - 1'],
      [6, 'the cost at cost is no integer from 0 to 2^53 - 1'],
      [7, 'it has 4 fields, and the header 3'],
    ])
  })
})

describe('what is no log', () => {
  it('is left out, counted and shown, between lines that are', async () => {
    const long = 'a'.repeat(10_000_000)
    const garbage = Buffer.from([0, 1, 2, 0xff, 0xfe, 0x1b, 0x5b])
    const log = Buffer.concat([
      Buffer.from(`\ufeff${line(0)}\r\n\r\n${long}\n`),
      garbage,
      Buffer.from(`\n\0\0\n${line(1)}\r\n\n${line(2)}`),
    ])
    const path = file('odd.txt', log)
    const { source, runs } = await replay([path])
    expect(source).toMatchObject({ lines: 6, unreadable: 3 })
    expect(runs[0]).toMatchObject({ admitted: 2, refused: 1 })
    expect(source.unreadableLines).toEqual([
      { name: 'odd.txt', line: 3, reason: 'longer than 1048576 bytes', text: `${'a'.repeat(99)}…` },
      expect.objectContaining({ line: 4, text: '\\u0000\\u0001\\u0002��\\u001b[' }),
      expect.objectContaining({ line: 5, text: '\\u0000\\u0000' }),
    ])
  })

  it('is an error if the file has nothing else', async () => {
    const path = file('text.txt', 'Dear Sir,\nnothing.\n')
    const { code, stderr } = await failure([path])
    expect(code).toBe(1)
    expect(stderr).toMatch(`${path}: expected lines of a combined log (203.0.113.7 - - [`)
    expect(stderr).toContain('JSON objects, or CSV with a header; it begins with "Dear Sir,"')
    const forced = await failure([path, '--format', 'combined'])
    expect(forced.code).toBe(1)
    expect(forced.stderr).toContain('none of its 2 lines can be read as combined')
    expect(forced.stderr).toContain('line 2: no address, identity and user at its start')
  })

  it.each([
    ['nothing', ''],
    ['empty lines', '\n\r\n\n'],
  ])('is an error if the file has %s', async (_, content) => {
    const { code, stderr } = await failure([], content)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^sluice: -: (there is nothing in it; )?expected lines of a combined log/,
    )
  })
})

describe('a file that can not be read', () => {
  it.each([
    ['is not there', () => `${folder}/nowhere`, 'there is no such file'],
    ['is a folder', () => folder, 'this is a directory; name its files'],
    [
      'is cut off gzip',
      () => file('cut.gz', gzipSync(lines(line(0))).subarray(0, 40)),
      'broken gzip (unexpected end of file)',
    ],
    [
      'is broken gzip',
      () =>
        file('broken.gz', Buffer.concat([gzipSync('x').subarray(0, 10), Buffer.alloc(50, 255)])),
      'broken gzip (',
    ],
  ])('is an error: it %s', async (_, path, reason) => {
    const name = path()
    const { code, stderr } = await failure([name])
    expect(code).toBe(1)
    expect(stderr).toContain(`sluice: ${name}: ${reason}`)
  })
})
