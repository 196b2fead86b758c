import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { context, type Span } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { createLimiter, type Decision } from '@sluice/core'
import { failingStore } from '@sluice/core/testing'
import { instrument } from './index.ts'

const DAY = { limit: 1, window: '1d', algorithm: 'fixed-window', name: 'api' } as const
const KEY = '203.0.113.7'
const SECRET = 'a secret of the tests'

const exporter = new InMemorySpanExporter()
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = provider.getTracer('test')
let stop = () => {}

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(() => context.disable())
beforeEach(() => exporter.reset())
afterEach(() => stop())

/** Runs it in a span, as a server's instrumentation does with a request. */
async function inSpan(act: () => unknown): Promise<void> {
  await tracer.startActiveSpan('request', async (span: Span) => {
    await act()
    span.end()
  })
}

const requestSpan = () => exporter.getFinishedSpans().find(({ name }) => name === 'request')

describe('a refusal', () => {
  test('is an event on the active span, without the key', async () => {
    stop = instrument()
    const limiter = createLimiter({ ...DAY, store: failingStore() })
    await inSpan(() => limiter.consume(KEY))
    expect(requestSpan()?.events).toEqual([])
    exporter.reset()
    let refused: Decision | undefined
    await inSpan(async () => {
      refused = await limiter.consume(KEY)
    })
    expect(requestSpan()?.events).toEqual([
      expect.objectContaining({
        name: 'rate_limiting.refused',
        attributes: {
          'rate_limiting.policy': 'api/default',
          'rate_limiting.result': 'refused',
          'rate_limiting.source': 'store',
          'rate_limiting.retry_after': (refused?.retryAfterMs as number) / 1000,
        },
      }),
    ])
  })

  test('has an HMAC of the key, if the limiter has a secret for it', async () => {
    stop = instrument()
    const limiter = createLimiter({ ...DAY, limit: 0, keySecret: SECRET })
    await inSpan(() => limiter.consume(KEY))
    const hash = createHmac('sha256', SECRET).update(KEY).digest('base64url')
    expect(requestSpan()?.events[0]?.attributes).toMatchObject({ 'rate_limiting.key_hash': hash })
    expect(JSON.stringify(requestSpan()?.events)).not.toContain(KEY)
  })

  test('for which no wait helps says none', async () => {
    stop = instrument()
    const limiter = createLimiter({ ...DAY, limit: 0 })
    await inSpan(() => expect(limiter.consume(KEY).retryAfterMs).toBe(Infinity))
    expect(requestSpan()?.events[0]?.attributes).not.toHaveProperty(['rate_limiting.retry_after'])
  })

  test('outside of a span changes nothing', () => {
    stop = instrument()
    expect(createLimiter({ ...DAY, limit: 0 }).consume(KEY).allowed).toBe(false)
  })
})

describe('spans of decisions', () => {
  const spans = () =>
    exporter.getFinishedSpans().filter(({ name }) => name === 'rate_limiting.consume')

  test('are made only with a tracerProvider', async () => {
    stop = instrument()
    await inSpan(() => createLimiter(DAY).consume(KEY))
    expect(spans()).toEqual([])
  })

  test.each([
    ['a memory store', () => ({})],
    ['a remote store', () => ({ store: failingStore() })],
  ])('of %s', async (_, store) => {
    stop = instrument({ tracerProvider: provider })
    const limiter = createLimiter({ ...DAY, ...store() })
    await inSpan(() => limiter.consume(KEY))
    await inSpan(() => limiter.consume(KEY))
    expect(spans().map(({ attributes }) => attributes)).toEqual(
      ['admitted', 'refused'].map((result) => ({
        'rate_limiting.policy': 'api/default',
        'rate_limiting.result': result,
        'rate_limiting.source': 'store',
      })),
    )
    expect(spans()[0]?.parentSpanContext?.spanId).toBe(requestSpan()?.spanContext().spanId)
  })
})
