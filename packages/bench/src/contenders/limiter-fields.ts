import type { RequestListener } from 'node:http'
import { inject } from './inject.ts'

/** The fields, and their values, that a limiter sets on the response to a request. */
export async function limiterFields(app: RequestListener): Promise<[string, string][]> {
  // The head as it was sent: Fastify never gives its fields to `setHeader`. Not in Node's types.
  const { _header: head } = (await inject(app)) as unknown as { _header: string }
  return [...head.matchAll(/^(\S*ratelimit\S*): (.*)\r$/gim)].map(([, name, value]) => {
    return [name as string, value as string]
  })
}
