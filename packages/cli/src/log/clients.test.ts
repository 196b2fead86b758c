import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Clients } from './clients.ts'

function numberOf(clients: Clients, text: string): number {
  const bytes = Buffer.from(`(${text})`, 'latin1')
  return clients.numberOf(bytes, 1, bytes.length - 1)
}

describe('Clients', () => {
  it('gives each key one number, from bytes and from text alike', () => {
    const keys = fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 60 }), {
      maxLength: 3000,
    })
    fc.assert(
      fc.property(keys, (given) => {
        const clients = new Clients()
        const renumbered = given.filter((key, i) => {
          const number = i % 2 === 0 ? numberOf(clients, key) : clients.number(key)
          return numberOf(clients, key) !== number || clients.number(key) !== number
        })
        expect(renumbered).toEqual([])
        expect(clients.count).toBe(new Set(given.map((key) => clients.number(key))).size)
      }),
      { numRuns: 50 },
    )
  })

  it('keeps a hundred thousand apart', () => {
    const clients = new Clients()
    const address = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
    const indices = Array.from({ length: 100_000 }, (_, i) => i)
    const misnumbered = () => indices.filter((i) => numberOf(clients, address(i)) !== i)
    expect(misnumbered()).toEqual([])
    expect(misnumbered()).toEqual([])
    expect(clients.key(99_999)).toBe(address(99_999))
  })

  it('keeps only as much of a long key as identifies it', () => {
    const clients = new Clients()
    const long = 'a'.repeat(1_000_000)
    expect([clients.number(`${long}b`), clients.number(`${long}c`)]).toEqual([0, 1])
    expect([numberOf(clients, `${long}b`), clients.number(`${long}c`)]).toEqual([0, 1])
    expect(clients.key(1)).toMatch(/^a{64}… [\da-f]{64}$/)
  })

  it('counts an address as the middleware does, however it is written', () => {
    const clients = new Clients()
    const spellings = ['2001:db8:1:200::1', '2001:DB8:1:2FF:0::2', '[2001:db8:1:201::3]:443']
    expect(spellings.map((each) => numberOf(clients, each))).toEqual([0, 0, 0])
    expect(numberOf(clients, '2001:db8:1:300::1')).toBe(1)
    expect([numberOf(clients, '::ffff:192.0.2.1'), clients.number('192.0.2.1')]).toEqual([2, 2])
    expect(clients.key(0)).toBe('2001:db8:1:200::/56')
  })
})
