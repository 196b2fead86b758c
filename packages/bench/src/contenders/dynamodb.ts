import { DynamoDB } from '@aws-sdk/client-dynamodb'
import { dynamodbStore } from '@sluice/dynamodb'
import { RateLimiterDynamo } from 'rate-limiter-flexible'
import { withTable } from './flexible.ts'
import { OURS, onStore } from './sluice.ts'
import type { Decide } from './terms.ts'

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
    return onStore(store, count)
  }
}

/** Contenders by name. */
export const dynamodbContenders: { readonly [name: string]: Make } = {
  [OURS]: sluice(1),
  [`${OURS}, 2 policies`]: sluice(2),

  'rate-limiter-flexible RateLimiterDynamo.consume': (storeClient) =>
    withTable((terms, ready) => new RateLimiterDynamo({ storeClient, ...terms }, ready)),

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
