import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AttributeValue,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals'
import {
  createLimiter,
  type Decision,
  type Limiter,
  type LimiterOptions,
  type StoreResult,
} from '@sluice/core'
import { algorithms, concurrency } from '@sluice/core/algorithms'
import { type DynamodbServer, startDynamodb } from '@sluice/test-harness/dynamodb'
import { isAll } from '@sluice/test-harness/jest'
import { runInProcesses } from '@sluice/test-harness/processes'
import { patient, until } from '@sluice/test-harness/redis'
import { type DynamodbClient, dynamodbStore } from './index.ts'
import { createCommand, DEFINITION, TIME_TO_LIVE } from './table.ts'
import { clientOf } from './testing/client.ts'
import type { Work } from './testing/workers/consuming.ts'

const worker = new URL(`file://${__dirname}/testing/workers/consuming.ts`)
const DAY = 86_400_000

let server: DynamodbServer
let client: DynamoDBDocumentClient
beforeAll(async () => {
  server = await startDynamodb()
  client = clientOf(server.url)
  await dynamodbStore(client).migrate()
})
afterAll(async () => {
  client.destroy()
  await server.stop()
})
afterEach(() => {
  jest.restoreAllMocks()
})

let prefixes = 0
beforeEach(() => {
  prefixes += 1
})
const prefix = () => `test-${process.pid}-${prefixes}`

function limit(options: object): Limiter<'async'> {
  const all = {
    ...patient,
    store: dynamodbStore(client),
    prefix: prefix(),
    window: '1d',
    ...options,
  }
  return createLimiter(all as unknown as LimiterOptions) as Limiter<'async'>
}

/** Decides for one client, or for a client of each policy. */
function ledgerOf(on: DynamodbClient, policies: number, deadlineMs = 60_000) {
  const algorithm = algorithms['fixed-window']
  const compiled = algorithm.compile({ limit: 300, windowMs: DAY })
  const spaces = Array.from({ length: policies }, (_, i) => ({ name: `p${i}`, algorithm }))
  const ledger = dynamodbStore(on).open(spaces, prefix(), deadlineMs)
  return async (...keys: string[]) => {
    const charges = spaces.map((_, i) => ({
      key: keys[i % keys.length] as string,
      limit: compiled,
      cost: 1,
    }))
    const [result] = await ledger.decide([charges])
    if (result instanceof Error) throw result
    return (result as StoreResult).outcomes.map(({ remaining }) => remaining)
  }
}

/** A client whose answers the test can change. */
function clientWith(change: (command: object, send: () => Promise<unknown>) => Promise<unknown>) {
  const send = (command: never, options: object) =>
    change(command, () => client.send(command, options))
  return { config: client.config, send } as DynamodbClient
}

const item = async (key: string) => {
  const Key = { id: { S: `${prefix()}:{${key}}` } }
  const found = await client.send(new GetItemCommand({ TableName: 'sluice_states', Key }) as never)
  return (found as { Item?: Record<string, AttributeValue> }).Item
}

test.each([
  ['nothing', undefined],
  ['a URL', 'https://dynamodb.eu-west-1.amazonaws.com'],
  ['a client of another service', { config: { serviceId: 'S3' }, send() {} }],
  ['a client of version 2', { putItem() {}, config: {} }],
])('%s is no client of DynamoDB', (_, wrong) => {
  expect(() => dynamodbStore(wrong as never)).toThrow(
    expect.objectContaining({ code: 'SLUICE_STORE_UNKNOWN', option: 'client' }),
  )
})

test.each([
  [{ table: 'a' }],
  [{ table: 'arn:aws:dynamodb:eu-west-1:1:table/x' }],
  [{ clock: 1 }],
  [{ ttl: 1 }],
])('options are checked: %j', (options) => {
  expect(() => dynamodbStore(client, options as never)).toThrow(/SLUICE_OPTION/)
})

test.each([
  ['a document client', (endpoint: string) => clientOf(endpoint)],
  [
    'a plain client',
    (endpoint: string) => {
      const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
      return new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials })
    },
  ],
])('%s will do', async (_, make) => {
  const own = make(server.url)
  const limiter = limit({ store: dynamodbStore(own), limit: 1 })
  const decisions = [await limiter.consume('client'), await limiter.consume('client')]
  expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
    [true, 'store'],
    [false, 'store'],
  ])
  own.destroy()
})

describe('the requests of', () => {
  const counted = async (act: () => Promise<unknown>) => {
    await server.counts()
    await act()
    return server.counts()
  }

  test('a lone request: one write, also of a new client; a refusal and a look: one read', async () => {
    const store = { ...dynamodbStore(client), documents: undefined }
    const limiter = limit({ store, limit: 3 })
    const consume = () => limiter.consume('client')
    expect(await counted(consume)).toEqual({ PutItem: 1 })
    expect(await counted(consume)).toEqual({ PutItem: 1 })
    expect(await counted(() => limiter.peek('client'))).toEqual({ GetItem: 1 })
    await consume()
    expect(await counted(consume)).toEqual({ GetItem: 1 })
  })

  test('several policies of a client: one write', async () => {
    const decide = ledgerOf(client, 3)
    expect(await counted(() => decide('client'))).toEqual({ PutItem: 1 })
  })

  test('several policies with their own clients: one transaction', async () => {
    const decide = ledgerOf(client, 3)
    expect(await counted(() => decide('a', 'b', 'c'))).toEqual({ TransactWriteItems: 1 })
    expect(await counted(() => decide('a', 'b', 'c'))).toEqual({ TransactWriteItems: 1 })
  })

  test('a client that another process has changed: two writes', async () => {
    const [one, other] = [ledgerOf(client, 1), ledgerOf(client, 1)]
    await one('client')
    await other('client')
    expect(await counted(() => one('client'))).toEqual({ PutItem: 2 })
    expect(await one('client')).toEqual([296])
  })

  test('a turn with more clients than a transaction may have: a write each', async () => {
    const store = { ...dynamodbStore(client), documents: undefined }
    const limiter = limit({ store, limit: 50 })
    const ask = () => Promise.all(Array.from({ length: 150 }, (_, i) => limiter.consume(`c-${i}`)))
    expect(await counted(ask)).toEqual({ PutItem: 150 })
  })

  test('a turn of the event loop: one for each client, in the order of the calls', async () => {
    const store = { ...dynamodbStore(client), documents: undefined }
    const limiter = limit({ store, limit: 50 })
    let decisions: Decision[] = []
    const ask = async () => {
      const asked = Array.from({ length: 100 }, (_, i) => limiter.consume(`client-${i % 2}`))
      decisions = await Promise.all(asked)
    }
    expect(await counted(ask)).toEqual({ PutItem: 2 })
    const expected = Array.from({ length: 100 }, (_, i) => 49 - Math.floor(i / 2))
    expect(decisions.map(({ remaining }) => remaining)).toEqual(expected)
  })
})

describe('several processes', () => {
  const work = (more: Partial<Work>): Work => {
    const { url: endpoint } = server
    return { endpoint, times: 300, limit: 300, prefix: prefix(), atOnce: 10, keys: ['a'], ...more }
  }
  const sum = (counts: readonly number[]) => counts.reduce((all, each) => all + each, 0)
  const remaining = async (...keys: string[]) => {
    const decide = ledgerOf(client, keys.length)
    return decide(...keys)
  }

  test.each([[['a']], [['a', 'b']]])(
    'two that ask 300 times each get 300 together: %j',
    async (keys) => {
      expect(sum(await runInProcesses<number>(worker, 2, work({ keys })))).toBe(300)
    },
  )

  // A hot partition: all but one write of each round fail.
  if (isAll)
    test('eight that ask 50 times each get 300 together', async () => {
      expect(sum(await runInProcesses<number>(worker, 8, work({ times: 50, atOnce: 1 })))).toBe(300)
    })

  test.each([[['a']], [['a', 'b']]])('beside one that is killed, %j', async (keys) => {
    const asked = work({ keys, limit: 400 })
    const killed = runInProcesses<number>(worker, 1, { ...asked, killed: 0 }).catch(String)
    const [[admitted = 0], end] = await Promise.all([
      runInProcesses<number>(worker, 1, { ...asked, times: 200 }),
      killed,
    ])
    expect(end).toContain('SIGKILL')
    expect(admitted).toBe(200)
    // All policies of a request are charged, or none: also of those ten that were not answered.
    const left = new Set(await remaining(...keys))
    expect(left.size).toBe(1)
  })
})

describe('a write whose answer is lost', () => {
  test('counts once if the SDK sends it again', async () => {
    let isLost = true
    const lossy = clientWith(async (command, send) => {
      if (!(command instanceof PutItemCommand) || !isLost) return send()
      isLost = false
      await send()
      return send()
    })
    const decide = ledgerOf(lossy, 1)
    expect(await decide('client')).toEqual([299])
    expect(await decide('client')).toEqual([298])
    expect(await ledgerOf(client, 1)('client')).toEqual([297])
  })

  test('counts once also if others have written meanwhile', async () => {
    const other = ledgerOf(client, 1)
    let isLost = true
    const lossy = clientWith(async (command, send) => {
      if (!(command instanceof PutItemCommand) || !isLost) return send()
      isLost = false
      await send()
      for (let i = 0; i < 7; i += 1) await other('client')
      return send()
    })
    expect(await ledgerOf(lossy, 1)('client')).toEqual([299])
    expect(await other('client')).toEqual([291])
  })
})

describe('a failure', () => {
  test.each([
    'ProvisionedThroughputExceededException',
    'ThrottlingException',
    'InternalServerError',
  ])('%s is passed on with its cause, after the retries of the SDK', async (name) => {
    const once = clientOf(server.url, { maxAttempts: 2, retryMode: 'standard' })
    const limiter = limit({ store: dynamodbStore(once), limit: 5, onStoreError: 'deny' })
    await limiter.consume('client')
    await server.fail(prefix(), name)
    try {
      expect(await limiter.consume('client')).toMatchObject({ allowed: false, source: 'deny' })
      const error = await Promise.resolve(limiter.reset('client')).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE', cause: { name } })
    } finally {
      await server.fail()
    }
    expect(await limiter.peek('client')).toMatchObject({ remaining: 4 })
    once.destroy()
  })

  const conflict = { name: 'TransactionConflictException' }
  const cancelled = (...codes: string[]) => ({
    name: 'TransactionCanceledException',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })
  test.each([
    [['a'], conflict],
    [['a', 'b'], cancelled('TransactionConflict', 'None')],
    [['a', 'b'], cancelled('None', 'ConditionalCheckFailed')],
  ])('of a write of %j is none if another transaction was in the way: %j', async (keys, error) => {
    let isRefused = true
    const refusing = clientWith(async (_, send) => {
      if (!isRefused) return send()
      isRefused = false
      throw Object.assign(new Error('refused'), error)
    })
    const decide = ledgerOf(refusing, keys.length)
    expect(await decide(...keys)).toEqual(keys.map(() => 299))
    expect(await decide(...keys)).toEqual(keys.map(() => 298))
  })

  test.each([
    [cancelled('None', 'ThrottlingError')],
    [cancelled('ConditionalCheckFailed', 'ProvisionedThroughputExceeded')],
    [{ name: 'TransactionInProgressException' }],
  ])('of a transaction is passed on: %j', async (error) => {
    const refusing = clientWith(async () => {
      throw Object.assign(new Error('refused'), error)
    })
    await expect(ledgerOf(refusing, 2)('a', 'b')).rejects.toMatchObject(error)
  })

  test('a server that hangs does not hang the application, and nothing is sent again later', async () => {
    const own = clientOf(server.url, { maxAttempts: 10 })
    const prompt = limit({
      store: dynamodbStore(own),
      limit: 9,
      deadline: 50,
      onStoreError: 'deny',
    })
    const patient = limit({ limit: 9 })
    await patient.consume('client')
    server.pause()
    try {
      const both = await Promise.all([prompt.consume('client'), prompt.peek('client')])
      expect(both.map(({ source }) => source)).toEqual(['deny', 'deny'])
    } finally {
      server.resume()
    }
    own.destroy()
    const isUsed = async () => (await patient.peek('client')).source === 'store'
    await until(isUsed, { what: 'the store decides' })
    // What was sent may be carried out, once.
    expect((await patient.peek('client')).remaining).toBeGreaterThanOrEqual(7)
  })

  test('contention ends with the deadline', async () => {
    const other = ledgerOf(client, 1)
    await other('client')
    const beaten = clientWith(async (command, send) => {
      if (command instanceof PutItemCommand) await other('client')
      return send()
    })
    jest.spyOn(Math, 'random').mockReturnValue(0.999)
    await expect(ledgerOf(beaten, 1, 60)('client')).rejects.toThrow(
      /no answer within 60 ms|aborted/,
    )
  })
})

describe('keys', () => {
  test.each([
    ['a', 'A'],
    ['é', 'e\u0301'],
    ['x'.repeat(10_000), `${'x'.repeat(9_999)}y`],
    ['a}:', 'a}'],
    ['{#}', '{#'],
  ])('that differ do so: %#', async (one, two) => {
    const limiter = limit({ limit: 1 })
    for (const key of [one, two]) {
      expect(await limiter.consume(key)).toMatchObject({ allowed: true, source: 'store' })
      expect(await limiter.consume(key)).toMatchObject({ allowed: false, source: 'store' })
    }
  })
})

describe('an item', () => {
  test('has the time of its deletion in seconds, rounded up to the minute', async () => {
    const limiter = limit({ limit: 5, window: '1m', algorithm: 'fixed-window' })
    const { at, resetMs } = await limiter.consume('client')
    const { expires } = (await item('client')) ?? {}
    const end = ((at as number) + resetMs) / 1000
    expect(Number(expires?.N)).toBeGreaterThanOrEqual(end)
    expect(Number(expires?.N)).toBeLessThan(end + 61)
    expect(Number(expires?.N) % 60).toBe(0)
  })

  test('that DynamoDB has deleted is begun anew', async () => {
    const decide = ledgerOf(client, 1)
    await decide('client')
    const [other] = [ledgerOf(client, 1)]
    await other('client')
    const { DeleteItemCommand } = await import('@aws-sdk/client-dynamodb')
    const Key = { id: { S: `${prefix()}:{client}` } }
    await client.send(new DeleteItemCommand({ TableName: 'sluice_states', Key }) as never)
    expect(await decide('client')).toEqual([299])
  })

  test('forgets what has ended long ago', async () => {
    let now = 1_800_000_000_000
    const store = dynamodbStore(client, { clock: () => now })
    const algorithm = algorithms['fixed-window']
    const compiled = algorithm.compile({ limit: 5, windowMs: 1000 })
    const names = async () => Object.keys((await item('client'))?.s?.M ?? {})
    for (const name of ['old', 'new']) {
      const ledger = store.open([{ name, algorithm }], prefix())
      await ledger.decide([[{ key: 'client', limit: compiled, cost: 1 }]])
      now += 61 * DAY
    }
    expect(await names()).toEqual([':new'])
  })

  test('is remembered while all that are take 8 MB, and else read again', async () => {
    const { documents } = dynamodbStore(client) as Required<ReturnType<typeof dynamodbStore>>
    const names = Array.from({ length: 22 }, (_, i) => `document${String.fromCharCode(97 + i)}`)
    const [first, last] = [names[0], names[21]] as [string, string]
    // What can't be compressed to less than 375 kB.
    const text = randomBytes(375_000).toString('base64')
    const write = async (name: string, known: string, version: string) => {
      await server.counts()
      expect(await documents.replace(prefix(), name, known, version + text, DAY)).toBe(true)
      return server.counts()
    }
    const [old, newer] = ['1'.repeat(16), '2'.repeat(16)] as [string, string]
    for (const name of names) expect(await write(name, '', old)).toEqual({ TransactWriteItems: 1 })
    expect(await write(last, old, newer)).toEqual({ TransactWriteItems: 1 })
    expect(await write(first, old, newer)).toEqual({ GetItem: 2, TransactWriteItems: 1 })
  })

  test('of more than 400 kB is an error with its cause', async () => {
    const documents = dynamodbStore(client).documents
    const text = `${'v'.repeat(16)}${Array.from({ length: 60_000 }, () => Math.random()).join('')}`
    const error = await Promise.resolve(documents?.replace(prefix(), 'any', '', text, DAY)).catch(
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ name: 'ValidationException' })
  })

  test('of a client with many slots of two policies is reset with one write', async () => {
    const slots = concurrency.compile({ limit: 10_000, windowMs: DAY })
    const spaces = ['one', 'other'].map((name) => ({ name, algorithm: slots.algorithm }))
    const ledger = dynamodbStore(client).open(spaces, prefix())
    const charges = (number: number, cost = 1) =>
      spaces.map(() => ({ key: 'client', limit: slots, cost, claim: [number * 1e9] }))
    for (let i = 0; i < 4; i += 1)
      await ledger.decide(Array.from({ length: 300 }, (_, j) => charges(1 + 300 * i + j)))
    const used = async () => {
      const [result] = await ledger.decide([charges(0, 0)], true)
      return (result as StoreResult).outcomes.map(({ remaining }) => 10_000 - remaining)
    }
    expect(await used()).toEqual([1200, 1200])
    await server.counts()
    await ledger.change({ kind: 'reset', key: 'client' })
    expect(await server.counts()).toEqual({ PutItem: 1 })
    expect(await used()).toEqual([0, 0])
    await ledger.decide([charges(1)])
    expect(await used()).toEqual([1, 1])
  })

  test('of 600 slots takes less than 10 kB', async () => {
    const limiter = limit({ limit: undefined, window: undefined, concurrent: 1000 })
    const taken = await Promise.all(Array.from({ length: 600 }, () => limiter.acquire('client')))
    expect(taken.every(({ allowed, source }) => allowed && source === 'store')).toBe(true)
    const states = Object.values((await item('client'))?.s?.M ?? {})
    expect(states.reduce((sum, { L }) => sum + (L?.[0]?.B?.length ?? 0), 0)).toBeLessThan(10_000)
    await limiter.reset('client')
    expect((await limiter.peek('client')).remaining).toBe(1000)
    for (const each of taken) (each as { release?: () => void }).release?.()
  })
})

describe('the table', () => {
  test('is never created silently: the warning has its commands', async () => {
    const warnings: string[] = []
    jest.spyOn(process, 'emitWarning').mockImplementation(((message: string) => {
      warnings.push(message)
    }) as never)
    const store = dynamodbStore(client, { table: 'missing' })
    const limiter = limit({ store, limit: 5 })
    expect(await limiter.consume('client')).toMatchObject({ allowed: true, source: 'local' })
    expect(warnings[0]).toContain('SLUICE_DYNAMODB_TABLE')
    expect(warnings[0]).toContain(createCommand('missing'))
    await store.migrate()
    const isUsed = async () => (await limiter.consume('client')).source === 'store'
    await until(isUsed, { what: 'the store decides' })
  })

  test('has in docs/stores.md the properties that create it', () => {
    const page = readFileSync(join(__dirname, '../../../docs/stores.md'), 'utf8')
    const [, json = ''] = /AWS::DynamoDB::Table[\s\S]*?```json\n([\s\S]*?)```/.exec(page) ?? []
    expect(JSON.parse(json)).toEqual({
      ...DEFINITION,
      TimeToLiveSpecification: TIME_TO_LIVE,
    })
  })

  test('is created once, however many processes do it, with deletion by time', async () => {
    const stores = Array.from({ length: 3 }, () => dynamodbStore(client, { table: 'several' }))
    await Promise.all(stores.map((store) => store.migrate()))
    await server.counts()
    await stores[0]?.migrate()
    const counts = await server.counts()
    expect(Object.keys(counts).sort()).toEqual(['DescribeTable', 'DescribeTimeToLive', 'GetItem'])
  })

  test('with another key is an error, of migrate() and of a decision', async () => {
    const { CreateTableCommand } = await import('@aws-sdk/client-dynamodb')
    const definition = {
      TableName: 'other',
      AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' as const }],
      KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' as const }],
      BillingMode: 'PAY_PER_REQUEST' as const,
    }
    await client.send(new CreateTableCommand(definition) as never)
    const store = dynamodbStore(client, { table: 'other' })
    await expect(store.migrate()).rejects.toMatchObject({ code: 'SLUICE_DYNAMODB_TABLE' })
    const error = await Promise.resolve(limit({ store, limit: 1 }).reset('client')).catch(
      (thrown) => thrown,
    )
    expect(error).toMatchObject({ cause: { code: 'SLUICE_DYNAMODB_TABLE' } })
  })

  test.each([
    [
      'SLUICE_DYNAMODB_FORBIDDEN',
      'AccessDeniedException',
      'User is not authorized to perform: dynamodb:PutItem',
      'ConditionCheckItem',
    ],
    [
      'SLUICE_DYNAMODB_FORBIDDEN',
      'AccessDeniedException',
      'User is not authorized to perform: dynamodb:CreateTable',
      'aws dynamodb create-table',
    ],
    [
      'SLUICE_DYNAMODB_AUTH',
      'UnrecognizedClientException',
      'The security token included in the request is invalid.',
      'credentials',
    ],
    [
      'SLUICE_DYNAMODB_AUTH',
      'CredentialsProviderError',
      'Could not load credentials from any providers',
      'credentials',
    ],
  ])('%s: the error says what to do: %s %s', async (code, name, message, fix) => {
    const refused = clientWith(async () => {
      throw Object.assign(new Error(message), { name })
    })
    const store = dynamodbStore(refused)
    const acts = [() => store.migrate(), () => limit({ store, limit: 5 }).reset('client')]
    const [migrating, resetting] = await Promise.all(
      acts.map((act) => Promise.resolve(act()).catch((thrown) => thrown)),
    )
    expect([migrating.code, resetting.cause.code]).toEqual([code, code])
    expect(migrating.message).toContain(fix)
    expect(migrating.message).toContain(message)
  })
})
