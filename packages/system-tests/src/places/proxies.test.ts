// What each proxy sends, by its documentation, to the server of docs/places/proxies.md over real
// sockets. A client must not get another's quota, nor one more than its own.

import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Program } from '@sluice/test-harness/processes'
import { programOf, startProgram } from './page.ts'

type Field = readonly [name: string, value: string]

/** The values of `X-Forwarded-For` that a proxy sends for what a client has written there. */
type Forwards = (client: string, written: readonly string[]) => readonly string[]

const append: Forwards = (client, written) => [[...written, client].join(', ')]
const preserve: Forwards = (_, written) => written

interface Proxy {
  /** The address that it connects from. */
  readonly peer: string
  /** How it can be set up, or be reached. */
  readonly forms: Record<string, Forwards>
  /** Forms that the page warns of: the client chooses its address. */
  readonly dangers: Record<string, Forwards>
  /** Whether the page names its addresses, rather than to count hops. */
  readonly named: boolean
}

/** The names are those of the page's `proxies`. */
const PROXIES: Record<string, Proxy> = {
  nginx: {
    peer: '127.0.0.1',
    forms: { $remote_addr: (client) => [client], $proxy_add_x_forwarded_for: append },
    dangers: { 'not configured': preserve },
    named: true,
  },
  heroku: {
    peer: '10.1.33.7',
    forms: { 'Router 2.0': append },
    dangers: {
      'the older router': (client, [first, ...others]) => [`${first}, ${client}`, ...others],
    },
    named: false,
  },
  fly: {
    peer: '172.16.3.162',
    forms: { 'its proxy': (client, written) => append('66.241.124.9', [...written, client]) },
    dangers: {},
    named: false,
  },
  alb: {
    peer: '10.0.2.41',
    forms: {
      append,
      'append, with ports': (client, written) => {
        return append(client.includes(':') ? `[${client}]:54321` : `${client}:54321`, written)
      },
    },
    dangers: { preserve },
    named: true,
  },
  cloudflare: { peer: '172.68.10.20', forms: { 'its network': append }, dangers: {}, named: true },
}

/** Whom a client pretends to be. */
const VICTIM = '192.0.2.66'

/** What a client sends to be taken for somebody else. */
const HOSTILE: Record<string, readonly Field[]> = {
  'an address': [['X-Forwarded-For', VICTIM]],
  'a long chain': [['X-Forwarded-For', Array(300).fill(VICTIM).join(', ')]],
  'a chain that ends with proxies': [
    ['X-Forwarded-For', `${VICTIM}, 172.68.10.20, 10.0.2.41, 10.1.33.7, 127.0.0.1`],
  ],
  'the field twice': [
    ['X-Forwarded-For', VICTIM],
    ['X-Forwarded-For', VICTIM],
  ],
  'no address': [['X-Forwarded-For', 'unknown, , ,"']],
  'blanks and commas': [['X-Forwarded-For', `${VICTIM},\t, ,`]],
  'other fields': [
    ['CF-Connecting-IP', VICTIM],
    ['True-Client-IP', VICTIM],
    ['Fly-Client-IP', VICTIM],
    ['X-Real-IP', VICTIM],
    ['X-Client-IP', VICTIM],
    ['X-Cluster-Client-IP', VICTIM],
    ['Forwarded', `for=${VICTIM}`],
  ],
}

const program = programOf('proxies')

describe.each(Object.keys(PROXIES))('%s', (name) => {
  const { peer, forms, dangers, named } = PROXIES[name] as Proxy
  let place: Program

  beforeAll(async () => {
    const source = program.replace('trustProxy: proxies.nginx', `trustProxy: proxies.${name}`)
    // From 127.0.0.2 a client connects that goes around the proxy.
    const peers = { '127.0.0.1': peer, '127.0.0.2': '198.51.100.200' }
    place = await startProgram(source, { peers })
  })
  afterAll(() => place.stop())

  /** What a client has left after a request. */
  const through = (forwards: Forwards, client: string, fields: readonly Field[]) => {
    const written = fields.filter(isForwarded).map(([, value]) => value)
    const sent = forwards(client, written).map((value) => ['X-Forwarded-For', value] as const)
    return remaining(place, [...fields.filter((each) => !isForwarded(each)), ...sent])
  }

  test.each(Object.keys(forms))('%s: who pretends to be another pays itself', async (form) => {
    const forwards = forms[form] as Forwards
    const client = `198.51.100.${Object.keys(forms).indexOf(form)}`
    const sent = Object.values(HOSTILE)
    for (const [i, fields] of sent.entries()) {
      expect(await through(forwards, client, fields)).toBe(99 - i)
    }
    expect(await through(forwards, client, [])).toBe(99 - sent.length)
  })

  test.each(Object.keys(forms))('%s: everybody else has a quota of their own', async (form) => {
    const forwards = forms[form] as Forwards
    const n = Object.keys(forms).indexOf(form)
    const left = [VICTIM, `2001:db8:${n}::1`].map((client) => through(forwards, client, []))
    expect(await Promise.all(left)).toEqual([99 - n, 99])
  })

  if (named) {
    test('who goes around it is limited by the address it connects from', async () => {
      for (const [i, fields] of Object.values(HOSTILE).entries()) {
        expect(await remaining(place, fields, '127.0.0.2')).toBe(99 - i)
      }
    })
  } else {
    test('who goes around it chooses an address, as the page says', async () => {
      const chosen: Field[] = [['X-Forwarded-For', '203.0.113.1, 203.0.113.2']]
      expect(await remaining(place, chosen, '127.0.0.2')).toBe(99)
      expect(await remaining(place, [], '127.0.0.2')).toBe(99)
    })
  }

  if (Object.keys(dangers).length > 0) {
    test.each(Object.keys(dangers))('%s: a client chooses, as the page says', async (form) => {
      const twice: Field[] = [1, 2].map(() => ['X-Forwarded-For', '203.0.113.77'])
      expect(await through(dangers[form] as Forwards, '198.51.100.50', twice)).toBe(99)
      expect(await through(dangers[form] as Forwards, '198.51.100.51', twice)).toBe(98)
    })
  }
})

const isForwarded = ([name]: Field) => name === 'X-Forwarded-For'

function remaining({ url }: Program, fields: readonly Field[], localAddress = '127.0.0.1') {
  return new Promise<number>((resolve, reject) => {
    const sent = request(url, { localAddress, agent: false }, (response) => {
      response.resume()
      resolve(Number(response.headers['ratelimit-remaining']))
    })
    for (const [name] of fields) {
      const values = fields.filter(([each]) => each === name).map(([, value]) => value)
      sent.setHeader(name, values)
    }
    sent.on('error', reject).end()
  })
}
