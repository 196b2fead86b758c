import { expect, test } from '@jest/globals'
import { senderOf } from './connection.ts'

const SIGNALLED = 'An error was signalled by the server: - '

test.each([
  [`${SIGNALLED}NoScriptError: No matching script.`, 'NOSCRIPT No matching script.'],
  [`${SIGNALLED}ReadOnly: You can't write.`, "READONLY You can't write."],
  [`${SIGNALLED}PermissionDenied: no permissions`, 'NOPERM no permissions'],
  [`${SIGNALLED}Moved: 12 127.0.0.1:6380`, 'MOVED 12 127.0.0.1:6380'],
  [`${SIGNALLED}CrossSlot: Keys in request`, 'CROSSSLOT Keys in request'],
  [`${SIGNALLED}ResponseError: unknown command 'eval'`, "ERR unknown command 'eval'"],
  ['NOAUTH: Authentication required.', 'NOAUTH Authentication required.'],
  ['OOM: command not allowed', 'OOM command not allowed'],
])('%s', async (message, said) => {
  const cause = new Error(message)
  const client = { customCommand: () => Promise.reject(cause), invokeScript: async () => {} }
  await expect(senderOf(client)('EVALSHA', 'sha', ['key'], ['input'])).rejects.toThrow(
    expect.objectContaining({ message: said, cause }),
  )
})

test('an error of the client itself comes through as it is', async () => {
  const closed = new Error('Unable to execute requests; the client is closed.')
  const client = { customCommand: () => Promise.reject(closed), invokeScript: async () => {} }
  await expect(senderOf(client)('EVAL', 'script', ['key'], ['input'])).rejects.toBe(closed)
})
