/** How to fix a DynamoDB that can't be used as it is set up, as Markdown: messages and docs/errors.md say it. */
export const DYNAMODB_ACTIONS = {
  SLUICE_DYNAMODB_TABLE:
    'Call `await store.migrate()` when you deploy, or create [the table](stores.md#dynamodb).',
  SLUICE_DYNAMODB_FORBIDDEN:
    'Allow `dynamodb:GetItem`, `dynamodb:PutItem` and `dynamodb:ConditionCheckItem`.',
  SLUICE_DYNAMODB_AUTH: 'Give the client valid credentials.',
}
