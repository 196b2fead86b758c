import { setupError } from '@sluice/transactional'
import { DYNAMODB_ACTIONS } from './setup-actions.ts'
import { createCommand } from './table.ts'

/** The actions of `migrate()`. */
const MIGRATING =
  'dynamodb:DescribeTable, dynamodb:CreateTable, dynamodb:DescribeTimeToLive, dynamodb:UpdateTimeToLive'

/** What must be there, by the code of its absence, and the names of the errors that say so. */
const NEEDS: readonly [code: keyof typeof DYNAMODB_ACTIONS, expected: string, errors: RegExp][] = [
  ['SLUICE_DYNAMODB_TABLE', 'the table of the store', /^ResourceNotFound/],
  ['SLUICE_DYNAMODB_FORBIDDEN', 'a role that may use the table', /^AccessDenied/],
  ['SLUICE_DYNAMODB_AUTH', 'valid credentials', /Unrecognized|Signature|Token|Credentials/],
]

/** @throws the failure in words, where it is a mistake in how DynamoDB is set up; else as it is */
export function throwSetupError(error: unknown, table: string): never {
  const { name, message } = error as Error
  const hasOtherKey = name === 'ValidationException' && /\bkey\b/i.test(message)
  const need = hasOtherKey ? NEEDS[0] : NEEDS.find(([, , errors]) => errors.test(name))
  if (need === undefined) throw error
  const [code, expected] = need
  const run = `or run: ${createCommand(table)}`
  let fix: string | undefined
  if (code === 'SLUICE_DYNAMODB_TABLE') fix = `Call await store.migrate() when you deploy, ${run}`
  else if (MIGRATING.split(', ').some((each) => message.includes(each)))
    fix = `Allow the role of the deployment ${MIGRATING}, ${run}`
  throw setupError(DYNAMODB_ACTIONS, code, expected, message, fix)
}
