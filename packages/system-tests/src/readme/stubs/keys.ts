import { createHash } from 'node:crypto'

const digest = (secret: string) => createHash('sha256').update(secret).digest('hex')

const keys = new Map([
  [digest('secret-of-a1'), { id: 'a1', account: 'ada', perDay: 150 }],
  [digest('secret-of-a2'), { id: 'a2', account: 'ada', perDay: 150 }],
  [digest('secret-of-b1'), { id: 'b1', account: 'ben', perDay: 1000 }],
])

export async function findKey(of: string) {
  return keys.get(of)
}
