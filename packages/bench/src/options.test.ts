import { describe, expect, it } from '@jest/globals'
import { parseOptions } from './options.ts'

describe('the options', () => {
  it('are all parts, unless some are named', () => {
    expect(parseOptions([])).toEqual({ parts: ['memory', 'redis', 'http'], quick: false })
    expect(parseOptions(['redis', 'memory']).parts).toEqual(['memory', 'redis'])
  })

  it('name files', () => {
    const options = parseOptions(['--quick', '--json', 'a.json', '--svg', 'b.svg', 'http'])
    expect(options).toEqual({ parts: ['http'], quick: true, json: 'a.json', svg: 'b.svg' })
  })

  it.each([[['memroy']], [['--jsn', 'file']], [['--json']]])('are not %j', (args) => {
    expect(() => parseOptions(args)).toThrow()
  })
})
