import { isIP } from 'node:net'

/** What is written of a client. */
export type ClientName = (key: string, number: number) => string

/** The client as it is. */
export const unmasked: ClientName = (key) => key

/**
 * Enough of a client to find it again in the log, and not to know who it is: its network, or the
 * first letters, and its number: the how-manieth client of the log it was.
 */
export const masked: ClientName = (key, number) => `${hidden(key)} #${number + 1}`

function hidden(key: string): string {
  if (isIP(key) === 4) return key.replace(/\d+$/, 'x')
  const [address = '', prefix] = key.split('/')
  if (prefix !== undefined && isIP(address) === 6) {
    return `${address.split(':').slice(0, 3).join(':')}:x`
  }
  const [, kind = '', name = ''] = /^(user:)?(.*)$/s.exec(key) ?? []
  const letters = [...name]
  return `${kind}${letters.length > 2 ? letters.slice(0, 2).join('') : ''}…`
}
