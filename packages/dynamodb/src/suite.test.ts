import { ScanCommand, type ScanCommandOutput } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as runner from '@jest/globals'
import { afterAll, beforeAll, describe } from '@jest/globals'
import { type DynamodbServer, startDynamodb } from '@sluice/test-harness/dynamodb'
import { runnerOfOneAlgorithm } from '@sluice/test-harness/jest'
import { storeSuite } from '@sluice/test-suites'
import {
  crowdedSharingSuite,
  crowdedSuite,
} from '../../core/src/algorithms/testing/crowded-parity.ts'
import { paritySuite } from '../../core/src/algorithms/testing/parity-suite.ts'
import { traceSuite } from '../../core/src/algorithms/testing/store-replay.ts'
import { dynamodbStore } from './index.ts'
import { clientOf } from './testing/client.ts'

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

const create = (clock: () => number) => dynamodbStore(client, { clock })

async function failWrites(_: unknown, text: string) {
  await server.fail(text, 'InternalServerError')
  return () => server.fail()
}

// PostgreSQL plays all algorithms on the same base.
const played = process.env.SLUICE_RELEASE === '1' ? runner : runnerOfOneAlgorithm
storeSuite(played, 'the DynamoDB store', {
  mode: 'async',
  create,
  ...(process.env.DYNAMODB_ENDPOINT === undefined && { failWrites }),
  async countLeft({ clock }, text) {
    const now = clock?.() ?? 0
    const scan = new ScanCommand({ TableName: 'sluice_states', ConsistentRead: true })
    const { Items = [] } = (await client.send(scan as never)) as ScanCommandOutput
    const own = Items.filter(
      ({ id, expires }) => id?.S?.includes(text) && Number(expires?.N) * 1000 > now,
    )
    return own.reduce((sum, item) => sum + Object.keys(item.s?.M ?? {}).length, 0)
  },
})

describe('decides as memory does', () => {
  paritySuite('DynamoDB', create, 0.1)
  crowdedSuite('DynamoDB', create, 4)
  crowdedSharingSuite(create)
  traceSuite('DynamoDB', create, {
    alone: { before: 0, after: 0 },
    'batch of several policies': { before: 2, after: 0, beside: (cost) => cost + 1 },
  })
})
