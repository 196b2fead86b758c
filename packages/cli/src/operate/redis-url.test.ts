import { describe, expect, it } from '@jest/globals'
import { optionsOfUrl } from './redis-url.ts'

describe('the URL of a store', () => {
  it.each([
    ['redis://cache', { host: 'cache', port: 6379, db: 0 }],
    ['redis://cache:7000/3', { host: 'cache', port: 7000, db: 3 }],
    ['redis://[::1]:7000', { host: '::1', port: 7000, db: 0 }],
    ['redis://:p%40ss:w@cache', { host: 'cache', port: 6379, db: 0, password: 'p@ss:w' }],
    [
      'redis://ops:a@b@cache',
      { host: 'cache', port: 6379, db: 0, username: 'ops', password: 'a@b' },
    ],
    [
      'rediss://cache',
      { host: 'cache', port: 6379, db: 0, tls: {}, enableTLSForSentinelMode: true },
    ],
    [
      'redis+sentinel://:pw@one:26000,two/main/2',
      {
        sentinels: [
          { host: 'one', port: 26_000 },
          { host: 'two', port: 26_379 },
        ],
        name: 'main',
        db: 2,
        password: 'pw',
      },
    ],
  ])('%s', (url, options) => expect(optionsOfUrl(url)).toEqual(options))

  it.each([
    '',
    'cache:6379',
    'http://user:secret@cache',
    'redis://',
    'redis://:secret@',
    'redis://:secret@cache:99999',
    'redis://:secret@cache/x',
    'redis://:secret%@cache',
    'redis+sentinel://:secret@one:26379',
    'redis+sentinel://:secret@one,,two/main',
  ])('refuses %j, and does not repeat its password', (url) => {
    expect(() => optionsOfUrl(url)).toThrow(/^--redis: (?!.*secret)/)
  })
})
