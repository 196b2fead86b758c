// Agents that sign their requests: who is counted, whatever a request says.

import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { manualClock } from '@sluice/core/testing'
import { type MemoryStore, memoryStore } from '@sluice/express'
import express from 'express'
import { type Component, signatureHeaders as sign } from 'http-message-sig'
import request from 'supertest'
import { jwkToKeyID } from 'web-bot-auth'
import { helpers, signerFromJWK } from 'web-bot-auth/crypto'
import { agents } from './agents.ts'
import { expectShown } from './document.ts'

const AGENT = 'https://chatgpt.com'
const MINUTE = 60_000

async function newKey() {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }) as never
  const signer = await signerFromJWK(jwk)
  const { d: _, ...published } = jwk as Record<string, string>
  const kid = await jwkToKeyID(jwk, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE)
  return { signer, published: { ...published, kid } }
}

type Signer = Awaited<ReturnType<typeof newKey>>['signer']
let own: Awaited<ReturnType<typeof newKey>>
let stranger: Awaited<ReturnType<typeof newKey>>
let directory: Server
let store: MemoryStore
let isHanging: boolean

beforeEach(async () => {
  own = await newKey()
  stranger = await newKey()
  isHanging = false
  store = memoryStore({ clock: manualClock(0) })
  directory = createServer((message, response) => {
    expect(message.url).toBe('/.well-known/http-message-signatures-directory')
    if (!isHanging) response.end(JSON.stringify({ keys: [own.published] }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => directory.once('listening', resolve))
  // The agent's name leads to this server.
  const { port } = directory.address() as AddressInfo
  const { fetch } = globalThis
  jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
    const { origin, pathname } = new URL(`${url}`)
    expect(origin).toBe(AGENT)
    return fetch(`http://127.0.0.1:${port}${pathname}`, init)
  })
})

afterEach(() => {
  jest.restoreAllMocks()
  directory.closeAllConnections()
  directory.close()
  store.close()
})

interface Terms {
  readonly signer?: Signer
  readonly authority?: string
  readonly agent?: string
  readonly components?: Component[]
  readonly params?: object
  readonly note?: string
}

/** The fields of a signed request for `/items?page=2`. */
async function signed(terms: Terms = {}): Promise<Record<string, string>> {
  const { signer = own.signer, authority = 'shop.example', agent = `"${AGENT}"` } = terms
  const fields = { 'signature-agent': agent, 'x-note': terms.note ?? 'none' }
  const message = { method: 'GET', url: `https://${authority}/items?page=2`, headers: fields }
  const now = Date.now()
  const signature = await sign(message, {
    signer,
    components: terms.components ?? ['@authority', 'signature-agent'],
    created: new Date(now - 1000),
    expires: new Date(now + MINUTE),
    tag: 'web-bot-auth',
    ...terms.params,
  })
  return { ...fields, ...signature }
}

/** Who is charged for a request with these fields, by its limit. */
async function serve() {
  const warn = jest.spyOn(process, 'emitWarning')
  const app = express()
  await agents(app, store)
  app.use((_, response) => void response.end())
  return async (fields: Record<string, string>) => {
    const { headers, status } = await request(app).get('/items?page=2').set(fields)
    expect(status).toBe(200)
    expect(warn.mock.calls.filter(([text]) => String(text).includes('SLUICE'))).toEqual([])
    const [, limit, left] = /q=(\d+).*?r=(\d+)/.exec(
      `${headers['ratelimit-policy']} ${headers.ratelimit}`,
    ) as RegExpExecArray
    return `${limit === '600' ? 'the agent' : 'the address'}, ${left} left`
  }
}

test('a signature counts for its agent, in each form of its name, whatever else it covers', async () => {
  const send = await serve()
  expect(await send(await signed())).toBe('the agent, 599 left')
  const components = ['@method', '@authority', '@path', '@query', 'signature-agent']
  expect(await send(await signed({ components }))).toBe('the agent, 598 left')
  // A member of a dictionary is signed by its value.
  const member = { name: 'signature-agent', parameters: new Map([['key', 'sig1']]) }
  const ofMember = await signed({ components: ['@authority', member] })
  ofMember['signature-agent'] = `sig1="${AGENT}"`
  expect(await send(ofMember)).toBe('the agent, 597 left')
  expect(await send({})).toBe('the address, 59 left')
})

const forged = async () => {
  const fields = await signed()
  const flipped = `${fields.Signature}`.replace(/:(.)/, (_, first) => (first === 'A' ? ':B' : ':A'))
  return { ...fields, Signature: flipped }
}

test.each<[string, () => Promise<Record<string, string>>]>([
  ['forged', forged],
  ['made for another authority', () => signed({ authority: 'other.example' })],
  ['without an authority, so that it fits every one', () => signed({ components: ['@method'] })],
  [
    'made for another one, which a field of it hides',
    () => signed({ components: ['x-note'], note: '"@authority": shop.example' }),
  ],
  [
    'of another path',
    () => signed({ components: ['@authority', '@path'], authority: 'shop.example/x' }),
  ],
  ['expired', () => signed({ params: { expires: new Date(Date.now() - 1) } })],
  ['without an end', () => signed({ params: { expires: 'never' } })],
  ['made in the future', () => signed({ params: { created: new Date(Date.now() + MINUTE) } })],
  ['for another purpose', () => signed({ params: { tag: 'http-message-signatures-directory' } })],
  ["by a stranger's key", () => signed({ signer: stranger.signer })],
  [
    "by a stranger's key under the name of the agent's",
    () => signed({ signer: stranger.signer, params: { keyid: own.published.kid } }),
  ],
  ['of an agent that is not known', () => signed({ agent: '"https://other.example"' })],
  ['of an agent whose name is no text', () => signed({ agent: AGENT })],
  ['of an agent with a long name', () => signed({ agent: `"${AGENT}${'x'.repeat(10_000)}"` })],
  ['of two agents', () => signed({ agent: `"${AGENT}", "${AGENT}"` })],
  ['not there', async () => ({ 'signature-agent': `"${AGENT}"` })],
  ['no structured field', async () => ({ ...(await signed()), 'Signature-Input': 'sig1=(((' })],
])('a signature that is %s charges the address, and never the agent', async (_, fields) => {
  const send = await serve()
  expect(await send(await fields())).toBe('the address, 59 left')
  expect(await send(await signed())).toBe('the agent, 599 left')
})

test('a directory that hangs delays the start by two seconds at most, and no request', async () => {
  isHanging = true
  const { timeout } = AbortSignal
  const limits = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(20))
  const send = await serve()
  expect(limits.mock.calls).toEqual([[2000]])
  expect(await send(await signed())).toBe('the address, 59 left')
  expect(fetch).toHaveBeenCalledTimes(1)
})

test('keys are read again; a directory that fails then does not lose them', async () => {
  const timers = jest.spyOn(globalThis, 'setInterval')
  const send = await serve()
  const [reload] = timers.mock.calls.find(([, ms]) => ms === 300_000) as [() => Promise<unknown>]
  isHanging = true
  const { timeout } = AbortSignal
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(20))
  await reload()
  expect(await send(await signed())).toBe('the agent, 599 left')
  isHanging = false
  const former = await signed()
  own = await newKey()
  await reload()
  expect(await send(former)).toBe('the address, 59 left')
  expect(await send(await signed())).toBe('the agent, 598 left')
})

test('the page shows this code', () => expectShown('agents.ts'))
