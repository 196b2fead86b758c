import { setupError } from '@sluice/transactional'
import { DYNAMODB_ACTIONS } from './setup-actions.ts'
import { createCommand, MIGRATING } from './table.ts'

/** What must be there, by the code of its absence, and the names of the errors that say so. */
const NEEDS: readonly [code: keyof typeof DYNAMODB_ACTIONS, expected: string, errors: string[]][] =
  [
    ['SLUICE_DYNAMODB_TABLE', 'the table of the store', ['ResourceNotFoundException']],
    ['SLUICE_DYNAMODB_FORBIDDEN', 'a role that may use the table', ['AccessDeniedException']],
    [
      'SLUICE_DYNAMODB_AUTH',
      'valid credentials',
      [
        'UnrecognizedClientException',
        'InvalidSignatureException',
        'IncompleteSignatureException',
        'MissingAuthenticationTokenException',
        'ExpiredTokenException',
        'CredentialsProviderError',
      ],
    ],
  ]

/** @throws the failure in words, where it is a mistake in how DynamoDB is set up; else as it is */
export function throwSetupError(error: unknown, table: string): never {
  const { name, message } = error as Error
  // A table with another key.
  const isOther = name === 'ValidationException' && /\bkey\b/i.test(message)
  const need = isOther ? NEEDS[0] : NEEDS.find(([, , errors]) => errors.includes(name))
  if (need === undefined) throw error
  const [code, expected] = need
  const isMigrating = MIGRATING.some((each) => message.includes(each))
  const fixes = {
    SLUICE_DYNAMODB_TABLE: `Call await store.migrate() when you deploy, or run: ${createCommand(table)}`,
    SLUICE_DYNAMODB_FORBIDDEN: isMigrating
      ? `Allow the role of the deployment ${MIGRATING.join(', ')}, or run: ${createCommand(table)}`
      : undefined,
    SLUICE_DYNAMODB_AUTH: undefined,
  }
  throw setupError(DYNAMODB_ACTIONS, code, expected, message, fixes[code])
}
