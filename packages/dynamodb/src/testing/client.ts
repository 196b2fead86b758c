import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'

/** A client of a server of the test's own. */
export function clientOf(
  endpoint: string,
  more: DynamoDBClientConfig = {},
): DynamoDBDocumentClient {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
  return DynamoDBDocumentClient.from(
    new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, ...more }),
  )
}
