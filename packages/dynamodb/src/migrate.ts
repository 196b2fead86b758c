import {
  CreateTableCommand,
  DescribeTableCommand,
  type DescribeTableCommandOutput,
  DescribeTimeToLiveCommand,
  type DescribeTimeToLiveCommandOutput,
  type DynamoDBClient,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import type { DynamodbClient } from './client.ts'
import { TABLE } from './table.ts'

/** The longest that the creation of a table may take, s. */
const CREATION_S = 120

/** See `DynamodbStore.migrate`. */
export async function migrate(client: DynamodbClient, name: string): Promise<void> {
  const { TimeToLiveSpecification, ...definition } = TABLE
  const send = client.send.bind(client) as unknown as (command: object) => Promise<unknown>
  const table = { TableName: name }
  const describe = () =>
    send(new DescribeTableCommand(table)) as Promise<DescribeTableCommandOutput>
  try {
    const { Table } = await describe()
    if (Table?.KeySchema?.length !== 1 || Table.KeySchema[0]?.AttributeName !== 'id')
      throw Object.assign(new Error(`the key of ${name} is not id`), {
        name: 'ValidationException',
      })
  } catch (error) {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error
    await send(new CreateTableCommand({ ...table, ...definition } as never)).catch(
      unless('ResourceInUseException'),
    )
  }
  const waiting = {
    client: client as unknown as DynamoDBClient,
    maxWaitTime: CREATION_S,
    minDelay: 1,
    maxDelay: 2,
  }
  await waitUntilTableExists(waiting, table)
  const { TimeToLiveDescription } = (await send(
    new DescribeTimeToLiveCommand(table),
  )) as DescribeTimeToLiveCommandOutput
  if (TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL')) return
  await send(new UpdateTimeToLiveCommand({ ...table, TimeToLiveSpecification })).catch(
    unless('ValidationException'),
  )
}

/** @returns what ignores an error of this name */
function unless(expected: string): (error: Error) => void {
  return (error) => {
    if (error.name !== expected) throw error
  }
}
