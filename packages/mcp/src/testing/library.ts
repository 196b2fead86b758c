import { McpServer } from '@modelcontextprotocol/server'

/** A server with two tools, a resource and a prompt. @param ran gets the name of each tool that has run */
export function library(ran: string[] = []): McpServer {
  const server = new McpServer({ name: 'library', version: '1.0.0' })
  for (const name of ['search', 'lend'])
    server.registerTool(name, {}, async () => {
      ran.push(name)
      return { content: [{ type: 'text', text: 'Done.' }] }
    })
  server.registerResource('shelf', 'library://shelf', {}, async ({ href }) => ({
    contents: [{ uri: href, text: 'Empty.' }],
  }))
  server.registerPrompt('summary', {}, async () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Summarise it.' } }],
  }))
  return server
}
