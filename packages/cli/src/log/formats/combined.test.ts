import { describe, expect, it } from '@jest/globals'
import { Clients } from '../clients.ts'
import { LogEntry } from '../log-entry.ts'
import { unmasked } from '../mask.ts'
import { CombinedFormat } from './combined.ts'

function read(line: string | Buffer, key = 'ip') {
  const entry = new LogEntry()
  const clients = new Clients()
  const bytes = Buffer.concat([Buffer.from('before '), Buffer.from(line), Buffer.from(' after')])
  const format = new CombinedFormat({ clients, fields: { key }, whole: true, mask: unmasked })
  const reason = format.read(bytes, 7, bytes.length - 6, entry)
  return { reason, entry, key: reason === undefined ? clients.key(entry.client) : undefined }
}

const TIME = '[21/Nov/2026:14:00:30 +0000]'
const AT = 1_795_269_630_000

describe('CombinedFormat', () => {
  it('reads a line of nginx and Apache', () => {
    const { reason, entry, key } = read(
      `203.0.113.7 - ann ${TIME} "POST /login?next=%2F HTTP/2.0" 302 17 "https://example.com/" "Mozilla/5.0 (X11)"`,
    )
    expect(reason).toBeUndefined()
    expect(entry).toMatchObject({
      time: AT,
      cost: 1,
      ip: '203.0.113.7',
      user: { id: 'ann' },
      method: 'POST',
      url: '/login?next=%2F',
      path: '/login',
      query: { next: '/' },
      status: 302,
      bytes: 17,
      headers: { referer: 'https://example.com/', 'user-agent': 'Mozilla/5.0 (X11)' },
    })
    expect(key).toBe('203.0.113.7')
    expect(entry.get('User-Agent')).toBe('Mozilla/5.0 (X11)')
  })

  it('reads a common log', () => {
    const { reason, entry } = read(`2001:db8::1 - - ${TIME} "GET / HTTP/1.1" 304 -`)
    expect(reason).toBeUndefined()
    expect(entry).toMatchObject({ ip: '2001:db8::1', user: undefined, status: 304, headers: {} })
    expect(entry.bytes).toBeUndefined()
  })

  it('takes off the escapes of Apache and of nginx', () => {
    const { entry } = read(
      `192.0.2.1 - - ${TIME} "GET /a\\"b\\x22c HTTP/1.1" 200 5 "-" "caf\\xc3\\xa9 \\\\ \\t \\"x\\""`,
    )
    expect(entry.url).toBe('/a"b"c')
    expect(entry.headers).toEqual({ 'user-agent': 'café \\ \t "x"' })
  })

  it('takes a user with spaces and brackets for one', () => {
    const { entry, key } = read(`192.0.2.1 - John [x] Doe ${TIME} "GET / HTTP/1.1" 200 5`, 'user')
    expect(entry.user).toEqual({ id: 'John [x] Doe' })
    expect(key).toBe('user:John [x] Doe')
  })

  it('counts those without a user by their address', () => {
    expect(read(`192.0.2.1 - - ${TIME} "GET / HTTP/1.1" 200 5`, 'user').key).toBe('192.0.2.1')
    expect(read(`192.0.2.1 - -x ${TIME} "GET / HTTP/1.1" 200 5`, 'user').key).toBe('user:-x')
  })

  it.each([
    ['+0000', AT],
    ['+0530', AT - 19_800_000],
    ['-0800', AT + 28_800_000],
  ])('reads the zone %s', (zone, expected) => {
    const { entry } = read(`192.0.2.1 - - [21/Nov/2026:14:00:30 ${zone}] "GET / HTTP/1.1" 200 5`)
    expect(entry.time).toBe(expected)
  })

  it('takes a time without a zone as UTC', () => {
    const { entry } = read('192.0.2.1 - - [21/Nov/2026:14:00:30] "GET / HTTP/1.1" 200 5')
    expect(entry.time).toBe(AT)
  })

  it('remembers no time for another', () => {
    const format = new CombinedFormat({
      clients: new Clients(),
      fields: {},
      whole: false,
      mask: unmasked,
    })
    const times = [
      '14:00:30 +0000',
      '14:00:31 +0000',
      '14:00:31 +0100',
      '14:00:31',
      '14:00:30 +0000',
    ]
    const read = times.map((time) => {
      const bytes = Buffer.from(`192.0.2.1 - - [21/Nov/2026:${time}] "GET / HTTP/1.1" 200 5`)
      const entry = new LogEntry()
      expect(format.read(bytes, 0, bytes.length, entry)).toBeUndefined()
      return entry.time - AT
    })
    expect(read).toEqual([0, 1000, 1000 - 3_600_000, 1000, 0])
  })

  it.each(['"-"', '"\\x16\\x03\\x01"', '""'])('counts a request that is none: %s', (request) => {
    const { reason, entry } = read(`192.0.2.1 - - ${TIME} ${request} 400 150`)
    expect(reason).toBeUndefined()
    expect(entry).toMatchObject({ method: '', url: '', time: AT })
  })

  it('leaves the host out of a path', () => {
    const { entry } = read(`192.0.2.1 - - ${TIME} "GET http://example.com/a?b HTTP/1.1" 200 5`)
    expect(entry.url).toBe('/a?b')
  })

  it.each([
    ['', 'no address, identity and user at its start'],
    ['192.0.2.1', 'no address, identity and user at its start'],
    [`192.0.2.1 - ${TIME}`, 'no [time] such as [21/Nov/2026:14:33:45 +0000]'],
    [
      '192.0.2.1 - - [yesterday] "GET / HTTP/1.1" 200 5',
      'no [time] such as [21/Nov/2026:14:33:45 +0000]',
    ],
    [
      '192.0.2.1 - - [41/Nov/2026:14:00:30 +0000] "GET / HTTP/1.1" 200 5',
      'no [time] such as [21/Nov/2026:14:33:45 +0000]',
    ],
    [
      '192.0.2.1 - - [21/Nob/2026:14:00:30 +0000] "GET / HTTP/1.1" 200 5',
      'no [time] such as [21/Nov/2026:14:33:45 +0000]',
    ],
    [`192.0.2.1 - - ${TIME}`, 'no "request" after the time'],
    [`192.0.2.1 - - ${TIME} GET / 200`, 'no "request" after the time'],
    [`192.0.2.1 - - ${TIME} "GET / HTTP/1.1`, 'the "request" does not end'],
    [`192.0.2.1 - - ${TIME} "GET /\\"`, 'the "request" does not end'],
    [`192.0.2.1 - - ${TIME} "GET / HTTP/1.1"`, 'no status after the request'],
  ])('refuses %j: %s', (line, reason) => {
    expect(read(line).reason).toBe(reason)
  })
})
