import { setTimeout as delay } from 'node:timers/promises'

/** A charge is settled after its response has ended: how long after is not for the client to know. */
export async function eventually(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 5000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`gave up after 5 s of waiting until ${what}`)
    await delay(5)
  }
}
