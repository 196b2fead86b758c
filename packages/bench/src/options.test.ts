import { describe, expect, it } from '@jest/globals'
import { isFull, parseOptions } from './options.ts'

describe('the options', () => {
  it('are all parts, unless some are named', () => {
    const parts = ['memory', 'redis', 'cluster', 'http']
    expect(parseOptions([])).toEqual({ parts, quick: false, render: false })
    expect(parseOptions(['redis', 'memory']).parts).toEqual(['memory', 'redis'])
  })

  it('are those of a full run if nothing is left out', () => {
    expect(isFull(parseOptions([]))).toBe(true)
    expect(isFull(parseOptions(['redis']))).toBe(false)
    expect(isFull(parseOptions(['--quick']))).toBe(false)
  })

  it.each([[['memroy']], [['--jsn', 'file']], [['--quick=yes']]])('are not %j', (args) => {
    expect(() => parseOptions(args)).toThrow()
  })
})
