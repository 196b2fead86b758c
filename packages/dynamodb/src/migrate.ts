import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  GetItemCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { DEFINITION, TIME_TO_LIVE } from './table.ts'

/** The longest that the creation of a table may take, s. */
const CREATION_S = 120

/** See `DynamodbStore.migrate`. */
export async function migrate(client: DynamoDBClient, TableName: string): Promise<void> {
  const table = { TableName }
  const describe = client.send(new DescribeTableCommand(table))
  const isThere = await describe.catch((error) => ignore('ResourceNotFoundException', error))
  if (!isThere) {
    const create = new CreateTableCommand({ ...table, ...DEFINITION } as never)
    await client.send(create).catch((error) => ignore('ResourceInUseException', error))
  }
  await waitUntilTableExists({ client, maxWaitTime: CREATION_S, minDelay: 1, maxDelay: 2 }, table)
  // Fails if the table has another key.
  await client.send(new GetItemCommand({ ...table, Key: { id: { S: 'none' } } }))
  const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand(table))
  if (TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL')) return
  const update = new UpdateTimeToLiveCommand({ ...table, TimeToLiveSpecification: TIME_TO_LIVE })
  // Another process may do it.
  await client.send(update).catch((error) => ignore('ValidationException', error))
}

/** Ignores an error of this name. */
function ignore(name: string, error: Error): void {
  if (error.name !== name) throw error
}
