import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** MB that this process holds more after `act`; what it returns is still alive then. */
export async function held(act: () => unknown): Promise<number> {
  const before = await measure()
  const alive = [await act()]
  const after = await measure()
  return alive.length * (after - before)
}

async function measure(): Promise<number> {
  // Array buffers are collected after the objects that held them.
  for (let i = 0; i < 3; i += 1) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}
