/** The table, as CreateTable takes it. */
export const DEFINITION = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
}

export const TIME_TO_LIVE = { AttributeName: 'expires', Enabled: true }

/** The commands that create a table. */
export function createCommand(TableName: string): string {
  const create = JSON.stringify({ TableName, ...DEFINITION })
  const update = JSON.stringify({ TableName, TimeToLiveSpecification: TIME_TO_LIVE })
  return `aws dynamodb create-table --cli-input-json '${create}' && aws dynamodb wait table-exists --table-name ${TableName} && aws dynamodb update-time-to-live --cli-input-json '${update}'`
}
