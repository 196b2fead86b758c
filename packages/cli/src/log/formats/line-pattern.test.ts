import { describe, expect, it } from '@jest/globals'
import { Clients } from '../clients.ts'
import { LogEntry } from '../log-entry.ts'
import { unmasked } from '../mask.ts'
import { durationField } from './duration.ts'
import { isPattern, LinePattern } from './line-pattern.ts'
import type { Reading } from './reading.ts'
import { recordFormat } from './record.ts'

const AT = 1_795_269_630_000
const NGINX =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_x_api_key" $request_time'
const APACHE = '%h %l %u %t \\"%r\\" %>s %b \\"%{X-Api-Key}i\\" %D'

function read(pattern: string, line: string, asked: Partial<Reading> = {}) {
  const clients = new Clients()
  const reading = { clients, fields: {}, whole: true, mask: unmasked, ...asked }
  const entry = new LogEntry()
  const bytes = Buffer.from(`before ${line} after`)
  const parts = new LinePattern(pattern)
  const format = recordFormat(reading, (line) => parts.split(line))
  const reason = format.read(bytes, 7, bytes.length - 6, entry)
  return { reason, entry, key: reason === undefined ? clients.key(entry.client) : undefined }
}

const LINE = '192.0.2.1 - ann [21/Nov/2026:14:00:30 +0000] "GET /a?b=c HTTP/1.1" 200 5'

describe('LinePattern', () => {
  it.each([
    ['log_format of nginx', NGINX, `${LINE} "secret" 0.250`, 'request_time:s'],
    ['LogFormat of Apache', APACHE, `${LINE} "secret" 250000`, 'D:us'],
  ])('reads %s', (_, pattern, line, duration) => {
    const { reason, entry, key } = read(pattern, line, {
      fields: { key: 'http_x_api_key' },
      duration: durationField(duration, 'start'),
    })
    expect(reason).toBeUndefined()
    expect(key).toBe('secret')
    expect(entry).toMatchObject({
      time: AT,
      user: { id: 'ann' },
      method: 'GET',
      url: '/a?b=c',
      status: 200,
      bytes: 5,
      durationMs: 250,
    })
  })

  it.each([
    ['$msec $remote_addr', '1795269630.123 192.0.2.1'],
    ['$time_iso8601 $remote_addr', '2026-11-21T14:00:30.123+00:00 192.0.2.1'],
    ['%{msec}t %a', '1795269630123 192.0.2.1'],
    ['%{usec}t %{c}a', '1795269630123456 192.0.2.1'],
  ])('reads the milliseconds of %s', (pattern, line) => {
    const { entry, key } = read(pattern, line)
    expect([Math.floor(entry.time), key]).toEqual([AT + 123, '192.0.2.1'])
  })

  it('takes off escapes, and ends a quoted field at its own quote', () => {
    const { entry } = read(
      '%h %t "%r" "%{User-Agent}i"',
      `192.0.2.1 [21/Nov/2026:14:00:30 +0000] "GET /a\\"b HTTP/1.1" "x \\" y"`,
    )
    expect(entry).toMatchObject({ url: '/a"b', headers: { 'user-agent': 'x " y' } })
  })

  it.each([
    ['192.0.2.1 -', 'no remote_addr where the pattern has it'],
    [`${LINE} "secret`, 'no http_x_api_key where the pattern has it'],
    ['', 'no remote_addr where the pattern has it'],
    [
      `${LINE.replace('Nov', 'Nob')} "-" 1`,
      'the time "21/Nob/2026:14:00:30 +0000" is neither epoch seconds, epoch ms nor ISO 8601',
    ],
  ])('refuses %j: %s', (line, reason) => {
    expect(read(NGINX, line).reason).toBe(reason)
  })

  it('refuses a line with more than the pattern', () => {
    expect(
      read('[$time_local] $remote_addr;', `[21/Nov/2026:14:00:30 +0000] 192.0.2.1; more`).reason,
    ).toBe('no end where the pattern has it')
  })

  it.each([
    ['$remote_addr$status', /nothing tells where \$status begins/],
    ['%h %{%Y-%m-%d}t', /expected %t or %\{sec\}t/],
  ])('refuses the pattern %j', (pattern, message) => {
    expect(() => new LinePattern(pattern)).toThrow(message)
  })

  it('is known from the name of a format', () => {
    expect(['combined', 'json', NGINX, APACHE, '100%'].map(isPattern)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ])
  })
})
