import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Listens on `$PORT`, on loopback unless `$HOST` says otherwise. Ends the process with a way out if
 * it can't.
 *
 * @param command the command that the reader has typed
 * @param defaultPort the port without `$PORT`
 * @returns the address to open
 */
export async function listen(
  server: Server,
  command: string,
  defaultPort: number,
): Promise<string> {
  const { HOST = 'localhost', PORT = String(defaultPort) } = process.env
  const fail = (reason: string, other: number): never => {
    console.error(`${reason} Choose another one:  PORT=${other} ${command}`)
    process.exit(1)
  }
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535)
    fail(`PORT must be a number from 0 to 65535, not ${JSON.stringify(PORT)}.`, defaultPort)
  await new Promise<void>((resolve) => {
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const reason = `Can't listen on ${HOST}, port ${PORT}: ${message}.`
      fail(code === 'EADDRINUSE' ? `Port ${PORT} is taken.` : reason, Number(PORT) + 1)
    })
    server.listen(Number(PORT), HOST, resolve)
  })
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}
