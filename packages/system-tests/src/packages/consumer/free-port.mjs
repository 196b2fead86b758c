// Loaded before an example, which listens on the port that its text names: moves it to a free port of
// this machine alone, and prints which.

import { Server } from 'node:net'

const { listen } = Server.prototype

Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log(`listens on ${this.address().port}`))
  const callback = args.findLast((each) => typeof each === 'function')
  return listen.call(this, { port: 0, host: '127.0.0.1' }, callback)
}
