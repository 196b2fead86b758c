// Loaded into the program of a page before its own code.

import { subscribe } from 'node:diagnostics_channel'
import { Server } from 'node:net'

const { listen } = Server.prototype

/** It listens on a free port of loopback, whatever port it names, and says where. */
Server.prototype.listen = function (...args) {
  this.once('listening', () => {
    process.stderr.write(`http://127.0.0.1:${this.address().port}\n`)
  })
  const callback = args.find((each) => typeof each === 'function')
  return Reflect.apply(listen, this, [0, '127.0.0.1', callback])
}

/** The wall clock stands still, so that no window ends. */
const now = Date.now()
Date.now = () => now

/** Connections from an address of loopback come from the address that `PEERS` has for it. */
const peers = JSON.parse(process.env.PEERS ?? '{}')
subscribe('net.server.socket', ({ socket }) => {
  const value = peers[socket.remoteAddress]
  if (value !== undefined) Object.defineProperty(socket, 'remoteAddress', { value })
})
