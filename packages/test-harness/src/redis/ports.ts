import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/**
 * `count` different loopback ports that are free now. Another process may take one before it is
 * used, so whoever binds them tries again with others.
 */
export async function freePorts(count: number): Promise<number[]> {
  const listeners = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    listeners.map(async (listener) => {
      listener.listen(0, LOOPBACK)
      await once(listener, 'listening')
      return (listener.address() as AddressInfo).port
    }),
  )
  await Promise.all(listeners.map((listener) => once(listener.close(), 'close')))
  return ports
}
