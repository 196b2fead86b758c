// Fetches a URL twenty times and reads no answer, then collects its garbage until it is killed. Run with --expose-gc.

import { setTimeout as sleep } from 'node:timers/promises'
import { watchResponse } from '../body.ts'

const url = process.argv.at(-1) as string
for (let i = 0; i < 20; i += 1) watchResponse(await fetch(url), 1, true, () => {})
for (;;) {
  globalThis.gc?.()
  await sleep(10)
}
