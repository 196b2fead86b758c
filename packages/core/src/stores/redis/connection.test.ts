import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import type { RedisClient } from './client.ts'
import { RedisConnection, Script } from './connection.ts'

/** A connection over a client that gives these answers, call by call, and notes what it was sent. */
function connectionThat(...answers: (number[] | Error)[]) {
  const sent: unknown[][] = []
  const answer =
    (name: string) =>
    async (...args: unknown[]) => {
      sent.push([name, ...args])
      const next = answers[sent.length - 1]
      if (next instanceof Error) throw next
      return next
    }
  const connection = new RedisConnection({
    evalsha: answer('evalsha'),
    evalshaBuffer: answer('evalsha'),
    eval: answer('eval'),
    evalBuffer: answer('eval'),
    status: 'ready',
  } as RedisClient)
  return { connection, sent }
}

const script = new Script('return 1')
const run = (connection: RedisConnection) =>
  connection.run({ script, args: ['1', '2'] }, ['{a}:x', '{a}:y'], (reply) => reply)

test('a server knows a script by the SHA-1 of its text', async () => {
  await run(connectionThat([1]).connection)
  expect(script.sha).toBe(createHash('sha1').update('return 1').digest('hex'))
})

describe('a run', () => {
  test('is one EVALSHA, after the first, which sends the text', async () => {
    const { connection, sent } = connectionThat([1, 2], [3])
    expect([await run(connection), await run(connection)]).toEqual([[1, 2], [3]])
    const rest = [2, '{a}:x', '{a}:y', '1', '2']
    expect(sent).toEqual([
      ['eval', script.text, ...rest],
      ['evalsha', script.sha, ...rest],
    ])
  })

  test('sends the text again after NOSCRIPT', async () => {
    const { connection, sent } = connectionThat([1], new Error('NOSCRIPT No matching script.'), [3])
    await run(connection)
    expect(await run(connection)).toEqual([3])
    expect(sent[2]).toEqual(['eval', script.text, 2, '{a}:x', '{a}:y', '1', '2'])
  })

  test('sends the text of each script after NOSCRIPT, and after a failure of the first call', async () => {
    const other = new Script('return 2')
    const { connection, sent } = connectionThat(
      [1],
      [2],
      new Error('NOSCRIPT'),
      new Error('OOM'),
      [3],
    )
    const runOther = () => connection.run({ script: other, args: [] }, ['{a}:x'], (reply) => reply)
    await run(connection)
    await runOther()
    await expect(run(connection)).rejects.toThrow('OOM')
    await runOther()
    await run(connection)
    expect(sent.map(([command]) => command)).toEqual([
      ...['eval', 'eval', 'evalsha', 'eval'],
      ...['eval', 'eval'],
    ])
  })

  test.each(['ERR NOSCRIPT', 'Connection is closed.', 'OOM command not allowed'])(
    'is not tried again after "%s"',
    async (message) => {
      const { connection, sent } = connectionThat(new Error(message), new Error(message))
      for (const calls of [1, 2]) {
        await expect(run(connection)).rejects.toThrow(message)
        expect(sent).toHaveLength(calls)
      }
    },
  )
})
