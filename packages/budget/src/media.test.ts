import { describe, expect, test } from '@jest/globals'
import { estimateTokens } from './estimate-tokens.ts'
import type { Media } from './media.ts'

const PHOTO = Buffer.alloc(3_000_000)
const base64 = PHOTO.toString('base64')
const url = `data:image/jpeg;base64,${base64}`
const pdf = `data:application/pdf;base64,${base64}`

const FOUND: Media = { kind: 'image', bytes: 3_000_000, mediaType: 'image/jpeg' }
const FILE: Media = { ...FOUND, kind: 'file', mediaType: 'application/pdf' }

test.each<[string, object, Media]>([
  ['chat completions', { type: 'image_url', image_url: { url, detail: 'high' } }, FOUND],
  [
    'chat completions, sound',
    { type: 'input_audio', input_audio: { data: base64, format: 'wav' } },
    { ...FOUND, kind: 'audio', mediaType: undefined },
  ],
  ['chat completions, a file', { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } }, FILE],
  ['responses', { type: 'input_image', image_url: url }, FOUND],
  [
    'responses, an address',
    { type: 'input_image', image_url: 'https://a.example/b.png' },
    { kind: 'image', bytes: undefined, mediaType: undefined },
  ],
  ['responses, a file', { type: 'input_file', file_data: pdf }, FILE],
  [
    'responses, an id',
    { type: 'input_file', file_id: 'file-1' },
    { kind: 'file', bytes: undefined, mediaType: undefined },
  ],
  ['responses, a screen', { type: 'computer_screenshot', image_url: url }, FOUND],
  [
    'messages',
    { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: base64 } },
    FOUND,
  ],
  [
    'messages, an id',
    { type: 'image', source: { type: 'file', file_id: 'f' } },
    { kind: 'image', bytes: undefined, mediaType: undefined },
  ],
  [
    'messages, a document',
    { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 } },
    FILE,
  ],
  ['the AI SDK', { type: 'file', mediaType: 'image/jpeg', data: PHOTO }, FOUND],
  [
    'the AI SDK, an address',
    { type: 'file', mediaType: 'image/jpeg', data: new URL('https://a.example') },
    { ...FOUND, bytes: undefined },
  ],
  [
    'the AI SDK 7',
    { type: 'file', mediaType: 'image/jpeg', data: { type: 'data', data: PHOTO } },
    FOUND,
  ],
  ['the AI SDK, of a tool', { type: 'image-data', mediaType: 'image/jpeg', data: base64 }, FOUND],
])('a part of %s is what it says', (_, part, media) => {
  const seen: Media[] = []
  const body = { messages: [{ role: 'user', content: [{ type: 'text', text: 'four' }, part] }] }
  const own = estimateTokens(body, (each) => {
    seen.push(each)
    return 1000
  })
  expect(seen).toEqual([media])
  expect(own - 1000).toBeGreaterThan(0)
  expect(own - 1000).toBeLessThan(60)
})

describe('without an estimate of its own', () => {
  const sizeOf = (part: object) => estimateTokens([part], () => undefined)

  test('a picture is 5,000 tokens, whatever its size', () => {
    expect(sizeOf({ type: 'image_url', image_url: { url } })).toBeLessThan(5020)
    expect(sizeOf({ type: 'image_url', image_url: { url: 'https://a.example' } })).toBeGreaterThan(
      5000,
    )
  })

  test('sound is a token for 100 bytes, a file one for 10, and 50,000 if nobody knows its size', () => {
    const of = (part: object) => Math.round(sizeOf(part) / 1000)
    expect(of({ type: 'input_audio', input_audio: { data: base64, format: 'wav' } })).toBe(30)
    expect(of({ type: 'input_file', file_data: pdf })).toBe(300)
    expect(of({ type: 'input_file', file_id: 'file-1' })).toBe(50)
  })
})

test.each<[string, object]>([
  ['text that looks like a picture', { type: 'text', text: url }],
  [
    'the text of a document',
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: base64 } },
  ],
  ['a file of text', { type: 'file', mediaType: 'text/csv', data: PHOTO }],
  [
    'text in a file of the AI SDK',
    { type: 'file', mediaType: 'text/csv', data: { type: 'text', text: base64 } },
  ],
  [
    'what is beside a picture',
    { type: 'image_url', image_url: { url: 'https://a.example' }, text: base64 },
  ],
])('%s is estimated as text', (_, part) => {
  expect(estimateTokens([part])).toBeGreaterThan(700_000)
})

test('a number that is none is not taken', () => {
  const part = { type: 'input_image', image_url: url }
  for (const wrong of [Number.NaN, -1, undefined, '5' as never])
    expect(estimateTokens([part], () => wrong)).toBe(estimateTokens([part]))
})
