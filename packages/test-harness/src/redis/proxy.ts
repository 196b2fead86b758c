import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Faults, link, type Traffic } from './link.ts'
import { LOOPBACK } from './ports.ts'
import { reset } from './reset.ts'

/**
 * Starts a TCP proxy to a loopback port, on a free one.
 *
 * It runs on the event loop of this process: a stall of the test is a stall of its network. A test
 * of stalls, or of fractions of a millisecond, makes its load in other processes
 * (`runInProcesses`) and keeps the proxy here.
 */
export async function startProxy(target: { readonly port: number }): Promise<RedisProxy> {
  const listener = createServer({ noDelay: true, allowHalfOpen: true }).unref()
  listener.listen(0, LOOPBACK)
  await once(listener, 'listening')
  return new RedisProxy(listener, target.port)
}

/**
 * A network between clients and a Redis server that fails on demand. Faults can be combined, and
 * affect present and new connections alike, unless stated otherwise.
 *
 * A connection that has lost bytes to `blackhole` or `loseReplies` stays silent when the fault is
 * over, until one side closes it: going on would give a reply to the wrong request, which no TCP
 * does. For a network, or a server, that resumes with nothing lost, see `RedisServer.pause`.
 */
export class RedisProxy {
  readonly host = LOOPBACK
  readonly port: number
  /** Since it was started. Connections that were refused do not count. */
  readonly counts: Traffic & { connections: number } = {
    connections: 0,
    requestBytes: 0,
    requestChunks: 0,
    replyBytes: 0,
    replyChunks: 0,
  }
  readonly #listener: Server
  readonly #faults: Faults = { delayMs: () => 0, blackhole: false, loseReplies: false }
  readonly #clients = new Set<Socket>()
  readonly #servers = new Set<Socket>()
  #targetPort: number
  #refuses = false

  constructor(listener: Server, targetPort: number) {
    this.port = (listener.address() as AddressInfo).port
    this.#listener = listener
    this.#targetPort = targetPort
    listener.on('connection', (client) => this.#accept(client))
  }

  /** `redis://127.0.0.1:<port>` */
  get url(): string {
    return `redis://${this.host}:${this.port}`
  }

  /**
   * Delays each chunk of replies by so many milliseconds. A slow chunk holds up the later ones of
   * its connection, as a lost packet does.
   */
  latency(ms: number | (() => number)): void {
    this.#faults.delayMs = typeof ms === 'number' ? () => ms : ms
  }

  /** Swallows everything in both directions, ends of connections too; new ones are accepted. */
  blackhole(on = true): void {
    this.#faults.blackhole = on
  }

  /** Requests go through and are executed, and nothing comes back. */
  loseReplies(on = true): void {
    this.#faults.loseReplies = on
  }

  /** Resets new connections. */
  refuse(on = true): void {
    this.#refuses = on
  }

  /** Resets all present connections. */
  cut(): void {
    for (const client of this.#clients) reset(client)
    for (const server of this.#servers) server.destroy()
  }

  /** Leads new connections to another loopback port, as when a DNS name moves. */
  retarget(port: number): void {
    this.#targetPort = port
  }

  /** Resets all connections and closes the port. */
  async stop(): Promise<void> {
    const closed = once(this.#listener.ref().close(), 'close')
    this.cut()
    await closed
  }

  #accept(client: Socket): void {
    if (this.#refuses) {
      client.on('error', () => {})
      reset(client)
      return
    }
    this.counts.connections++
    const port = this.#targetPort
    const server = connect({ host: LOOPBACK, port, noDelay: true, allowHalfOpen: true })
    link(client, server, this.#faults, this.counts)
    keepUntilClosed(this.#clients, client)
    keepUntilClosed(this.#servers, server)
  }
}

/** A connection that a failed test has left must not keep its process from ending. */
function keepUntilClosed(sockets: Set<Socket>, socket: Socket): void {
  socket.unref()
  sockets.add(socket)
  socket.once('close', () => sockets.delete(socket))
}
