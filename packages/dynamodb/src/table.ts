/** The properties of the table, as CloudFormation writes them. */
export const TABLE = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  BillingMode: 'PAY_PER_REQUEST',
  TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
} as const

/** The actions of `migrate()`. */
export const MIGRATING = [
  'dynamodb:DescribeTable',
  'dynamodb:CreateTable',
  'dynamodb:DescribeTimeToLive',
  'dynamodb:UpdateTimeToLive',
]

/** The commands that create a table. */
export function createCommand(name: string): string {
  const { TimeToLiveSpecification: ttl, ...table } = TABLE
  const create = JSON.stringify({ TableName: name, ...table })
  return [
    `aws dynamodb create-table --cli-input-json '${create}'`,
    `aws dynamodb wait table-exists --table-name ${name}`,
    `aws dynamodb update-time-to-live --table-name ${name} --time-to-live-specification '${JSON.stringify(ttl)}'`,
  ].join(' && ')
}
