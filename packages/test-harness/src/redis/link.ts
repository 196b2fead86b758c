import type { Socket } from 'node:net'
import { DelayLine } from './delay-line.ts'
import { reset } from './reset.ts'

/** The faults of a link from now on. */
export interface Faults {
  /** How long the next chunk of replies takes, in milliseconds. */
  delayMs: () => number
  blackhole: boolean
  loseReplies: boolean
}

/** The bytes from both sides, whether they were passed on or swallowed. */
export interface Traffic {
  requestBytes: number
  requestChunks: number
  replyBytes: number
  replyChunks: number
}

/**
 * Passes on what a client and a server say to each other, and how they end. A direction that has
 * lost something passes on nothing more: TCP never gives later bytes without the earlier ones.
 *
 * @param client Half-open allowed, as `server`.
 */
export function link(client: Socket, server: Socket, faults: Faults, traffic: Traffic): void {
  let lostRequest = false
  let lostReply = false
  const replies = new DelayLine()

  const request = (pass: () => void) => {
    lostRequest ||= faults.blackhole
    if (!lostRequest) pass()
  }
  const reply = (pass: () => void) => {
    const passUnlessLost = () => {
      lostReply ||= faults.blackhole || faults.loseReplies
      if (!lostReply) pass()
    }
    replies.push(passUnlessLost, faults.delayMs())
  }

  client.on('data', (chunk: Buffer) => {
    traffic.requestBytes += chunk.length
    traffic.requestChunks++
    request(() => server.write(chunk))
  })
  server.on('data', (chunk: Buffer) => {
    traffic.replyBytes += chunk.length
    traffic.replyChunks++
    reply(() => client.write(chunk))
  })
  client.on('end', () => request(() => server.end()))
  server.on('end', () => reply(() => client.end()))
  client.on('error', () => request(() => server.destroy()))
  server.on('error', () => reply(() => reset(client)))
  client.on('close', () => replies.clear())
}
