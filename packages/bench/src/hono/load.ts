import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const REQUEST = 'GET / HTTP/1.1\r\nHost: example.com\r\nAccept: application/json\r\n\r\n'
/** The end of the body of each response. */
const END = '"world"}'

/**
 * Sends requests on several connections at once, on each the next when the last is answered. A server closes a
 * connection on which nothing comes, so each call makes its own.
 */
export async function sendRequests(
  port: number,
  { requests, connections }: { requests: number; connections: number },
): Promise<void> {
  const each = Math.ceil(requests / connections)
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.setNoDelay()
      await sendOn(socket, each)
      socket.destroy()
    }),
  )
}

function sendOn(socket: Socket, requests: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = requests
    let text = ''
    const closed = () => reject(new Error('the server has closed a connection'))
    const received = (chunk: Buffer) => {
      text += chunk
      if (!text.endsWith(END)) return
      if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text))
      text = ''
      left -= 1
      if (left > 0) return socket.write(REQUEST)
      socket.off('close', closed)
      return resolve()
    }
    socket.on('data', received)
    socket.once('close', closed)
    socket.write(REQUEST)
  })
}
