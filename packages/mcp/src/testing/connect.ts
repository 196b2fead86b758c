import { Client } from '@modelcontextprotocol/client'
import { InMemoryTransport, type McpServer, type Server } from '@modelcontextprotocol/server'

export const REVISIONS = ['2026-07-28', '2025-11-25'] as const
export type Revision = (typeof REVISIONS)[number]
type Transport = Parameters<Client['connect']>[0]

/** Connects a client, which negotiates the revision. */
export async function connect(
  transport: Transport,
  revision: Revision = '2026-07-28',
): Promise<Client> {
  const mode = revision === '2026-07-28' ? 'auto' : 'legacy'
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode }, capabilities: { elicitation: {} } },
  )
  await client.connect(transport)
  if (client.getNegotiatedProtocolVersion() !== revision) throw new Error(`not ${revision}`)
  return client
}

/** A client of a server in this process, of the revision with sessions. */
export async function clientOf(server: McpServer | Server): Promise<Client> {
  const [own, others] = InMemoryTransport.createLinkedPair()
  await server.connect(others)
  return connect(own as Transport, '2025-11-25')
}

/** Calls a tool so often in parallel. */
export function call(client: Client, count: number, name = 'search') {
  return Promise.all(Array.from({ length: count }, () => client.callTool({ name, arguments: {} })))
}

/** How many of the results are no refusals. */
export const allowed = (results: Awaited<ReturnType<typeof call>>): number =>
  results.filter(({ isError }) => !isError).length
