import { describe, expect, it } from '@jest/globals'
import { LogEntry } from './log-entry.ts'
import { masked, unmasked } from './mask.ts'

describe('a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.x #5'],
    ['2001:db8:1:200::/56', '2001:db8:x #5'],
    ['2001:db8::/56', '2001:db8:x #5'],
    ['2001::/56', '2001:0:x #5'],
    ['::/56', '0:0:x #5'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:x #5'],
    ['user:203.0.113.7', 'user:203.0.113.x #5'],
    ['user:annabel', 'user:an… #5'],
    ['user:7', 'user:… #5'],
    ['key:203.0.113.7', 'key:203.0.113.x #5'],
    ['key:topsecret', 'key:to… #5'],
    ['ann@example.com', 'an… #5'],
    ['token', 't… #5'],
    ['ab', '… #5'],
    ['', '… #5'],
  ])('%s is %s', (key, text) => {
    expect(masked.client(key, 4)).toBe(text)
    expect(unmasked.client(key, 4)).toBe(key)
  })
})

describe('a text of the log', () => {
  it('shows its shape, or itself', () => {
    const text = '203.0.113.7 - Änn@host [21/Nov"\u001b'
    expect(masked.text(text)).toBe('000.0.000.0 - xxx@xxxx [00/xxx"\u001b')
    expect(unmasked.text(text)).toBe(text)
  })

  it('is short, and ends with a whole character', () => {
    const long = '😀'.repeat(1000)
    expect(unmasked.text(`a${long}`)).toBe(`a${'😀'.repeat(49)}…`)
    for (const mask of [masked, unmasked]) {
      expect(mask.text(long).length).toBeLessThanOrEqual(101)
      expect(mask.client(long, 4).length).toBeLessThanOrEqual(101)
      expect(mask.message(long, new LogEntry()).length).toBeLessThanOrEqual(501)
    }
  })
})

describe('a message', () => {
  const request = Object.assign(new LogEntry(), {
    ip: '10.0.0.1',
    user: { id: 'a.b' },
    url: '/reset?mail=(x',
  })

  it.each([
    ['no plan for a.b', 'no plan for …'],
    ['aab, xa.b, axb', 'aab, xa.b, axb'],
    ['/reset?mail=(x of 10.0.0.1', '/reset?… of …'],
    ['<ann@example.com> from 203.0.113.7', '<…> from 203.0.113.x'],
    ['[2001:db8:1::7] at 14:00:00', '[2001:db8:x] at 14:00:00'],
    ["Cannot read properties of undefined (reading 'plan')", undefined],
  ])('%s is %s', (text, shown = text) => {
    expect(masked.message(text, request)).toBe(shown)
    expect(unmasked.message(text, request)).toBe(text)
  })
})
