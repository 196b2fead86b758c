import { tryStart } from './try-start.ts'

/** Why the server can't have a TLS port, or undefined when it can. */
export function whyNoTls(binary?: string): string | undefined {
  const { log } = tryStart(['--tls-port', '1'], {}, binary)
  // Some builds without TLS know its options too, but not what they lack.
  return log.includes('tls-cert-file') ? undefined : 'the server is built without TLS'
}
