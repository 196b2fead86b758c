import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { algorithms } from '../../algorithms/index.ts'
import { type Connection, connectionOf } from './connection.ts'
import { Script } from './script.ts'

const { 'fixed-window': fixed, 'token-bucket': token, 'leaky-bucket': leaky } = algorithms

/** Of a client that answers as told, call by call, and notes what it was sent. */
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
  const connection = connectionOf({
    evalsha: answer('evalsha'),
    eval: answer('eval'),
    status: 'ready',
  })
  return { connection, sent }
}

describe('a script', () => {
  test('is known to the server by the SHA-1 of its text', () => {
    const { text, sha } = new Script([fixed])
    expect(sha).toBe(createHash('sha1').update(text).digest('hex'))
  })

  test('is the same text for the same steps, so that servers keep one', () => {
    expect(new Script([fixed, token]).text).toBe(new Script([fixed, token, fixed]).text)
  })

  test('holds a step once that algorithms share, and numbers the steps from 1', () => {
    const script = new Script([token, leaky, fixed])
    expect([token, leaky, fixed].map((each) => script.step(each))).toEqual([1, 1, 2])
    expect(script.text.split(token.lua)).toHaveLength(2)
  })

  test('takes a step as it stands, whatever characters it holds', () => {
    const lua = "return { decide = '$& $1 $$ $`' }"
    expect(new Script([{ ...fixed, lua }]).text).toContain(lua)
  })
})

describe('a run', () => {
  const script = new Script([fixed])
  const run = (connection: Connection) => script.run(connection, ['{a}:x', '{a}:y'], 'input')

  test('is one EVALSHA', async () => {
    const { connection, sent } = connectionThat([1, 2])
    expect(await run(connection)).toEqual([1, 2])
    expect(sent).toEqual([['evalsha', script.sha, 2, '{a}:x', '{a}:y', 'input']])
  })

  test('sends the text after NOSCRIPT', async () => {
    const { connection, sent } = connectionThat(new Error('NOSCRIPT No matching script.'), [3])
    expect(await run(connection)).toEqual([3])
    expect(sent[1]).toEqual(['eval', script.text, 2, '{a}:x', '{a}:y', 'input'])
  })

  test.each(['ERR NOSCRIPT', 'Connection is closed.', 'OOM command not allowed'])(
    'is not tried again after "%s"',
    async (message) => {
      const { connection, sent } = connectionThat(new Error(message))
      await expect(run(connection)).rejects.toThrow(message)
      expect(sent).toHaveLength(1)
    },
  )
})
