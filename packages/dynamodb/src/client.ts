import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SluiceError } from '@sluice/core'

/** What the store needs of a client of DynamoDB. */
export interface DynamodbClient {
  readonly config: object
  send(command: never, options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>
}

/** @throws SluiceError if it is no client of DynamoDB */
export function checkClient(client: DynamodbClient): DynamoDBClient {
  const { send, config } = Object(client)
  if (typeof send === 'function' && Object(config).serviceId === 'DynamoDB')
    return client as unknown as DynamoDBClient
  throw new SluiceError({
    code: 'SLUICE_STORE_UNKNOWN',
    option: 'client',
    expected: 'a client of DynamoDB of version 3 of the AWS SDK',
    received: client,
    fix: 'Give it DynamoDBDocumentClient.from(new DynamoDBClient()), or new DynamoDBClient().',
  })
}
