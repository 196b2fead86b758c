import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** 256 bits, for the address of the page: nobody guesses it. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares in the same time, whatever was given. */
export function isToken(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(token))
}

/**
 * Whether a request was meant for this server: by an IP address, as `localhost`, or by the name that it
 * listens on. Any other name may be an attacker's, which leads here only since its DNS says so (DNS
 * rebinding).
 */
export function isOwnHost({ headers }: IncomingMessage, listensOn: string): boolean {
  const name = hostnameOf(headers.host)
  return (
    name !== undefined &&
    (isIP(name) !== 0 || name === 'localhost' || name === listensOn.toLowerCase())
  )
}

/**
 * Whether a request that changes something comes from the page: a page of another origin may send neither
 * JSON nor this origin.
 */
export function isFromPage({ headers }: IncomingMessage): boolean {
  const { origin, host, 'content-type': type = '', 'sec-fetch-site': site } = headers
  const isJson = /^application\/json(;|$)/.test(type)
  const isOwn = origin === undefined || origin === `http://${host}`
  return isJson && isOwn && (site === undefined || site === 'same-origin')
}

function hostnameOf(host: string | undefined): string | undefined {
  const [, bracketed, plain] =
    /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host ?? '') ?? []
  return (bracketed ?? plain)?.toLowerCase()
}
