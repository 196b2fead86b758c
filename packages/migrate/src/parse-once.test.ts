import * as parser from '@babel/parser'
import { expect, it, jest } from '@jest/globals'

const parse = jest.fn(parser.parse)
jest.doMock('@babel/parser', () => ({ parse }))
const { migrateText } = require('./migrate-text.ts') as typeof import('./migrate-text.ts')

it('a file is parsed once, however many of its calls stay', () => {
  const stays = "r({ max: 5, handler: (req, res, next) => next('route') })\n"
  const text = `import r from 'express-rate-limit'\nr({ max: 5 })\n${stays.repeat(20)}`
  expect(migrateText(text, 'a.js')).toMatchObject({ rewritten: 1, left: { length: 20 } })
  const texts = parse.mock.calls.map(([each]) => each)
  expect(texts.filter((each) => each === text)).toHaveLength(1)
  // What comes out is parsed to see that it is a program, and what of it is not used any more.
  expect(texts.length).toBeLessThan(5)
})
