import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { createLimiter } from '@sluice/core'
import { dynamodbStore } from '@sluice/dynamodb'
import { RateLimiterDynamo } from 'rate-limiter-flexible'
import { OURS, policies, readAll } from './sluice.ts'
import { type Decide, LIMIT, WINDOW_MS } from './terms.ts'

/** Each in a table of its own, which is there when it resolves; it ends with the process. */
type Make = (client: DynamoDB) => Promise<Decide>

/** @param endpoint the address of a server of the test's own */
export function dynamodbClient(endpoint: string): DynamoDB {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return new DynamoDB({ endpoint, region: 'us-east-1', credentials })
}

function sluice(count: number): Make {
  return async (client) => {
    const store = dynamodbStore(client)
    await store.migrate()
    // Longer than any pause of the machine: see `readAll`.
    const limiter = createLimiter({
      store,
      prefix: `of-${count}`,
      policies: policies('sliding-window', count),
      deadline: '30s',
    })
    return async (key) => readAll(await limiter.consume(key))
  }
}

/** Contenders by name. */
export const dynamodbContenders: { readonly [name: string]: Make } = {
  [OURS]: sluice(1),
  [`${OURS}, 2 policies`]: sluice(2),

  'rate-limiter-flexible RateLimiterDynamo.consume': (storeClient) =>
    new Promise((resolve, reject) => {
      const terms = { points: LIMIT, duration: WINDOW_MS / 1000, tableName: 'flexible' }
      const limiter = new RateLimiterDynamo({ storeClient, ...terms }, (error) => {
        if (error) reject(error)
        else resolve(async (key) => (await limiter.consume(key)).remainingPoints)
      })
    }),

  'floor: one update that counts': async (client) => {
    const table = { TableName: 'sluice_states' }
    await dynamodbStore(client).migrate()
    return async (key) => {
      await client.updateItem({
        ...table,
        Key: { id: { S: `floor-${key}` } },
        UpdateExpression: 'ADD hits :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      })
      return 0
    }
  },
}
