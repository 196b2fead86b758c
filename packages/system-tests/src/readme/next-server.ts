import { type AddressInfo, Server } from 'node:net'

const { listen } = Server.prototype

/**
 * Lets the next server of this process listen on a free port of loopback, whatever port its program
 * names.
 *
 * @returns its address, when it listens
 */
export function nextServer(): Promise<string> {
  return new Promise((resolve) => {
    Server.prototype.listen = function (this: Server, ...args: unknown[]) {
      Server.prototype.listen = listen
      this.once('listening', () => {
        resolve(`http://127.0.0.1:${(this.address() as AddressInfo).port}`)
      })
      const callback = args.find((each) => typeof each === 'function')
      return Reflect.apply(listen, this, [0, '127.0.0.1', callback])
    } as typeof listen
  })
}
