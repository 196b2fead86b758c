import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { SluiceError } from '@sluice/core/operator'
import { printableReport } from '@sluice/terminal/printable'
import { messageOf, say } from '@sluice/terminal/say'
import { UsageError } from '@sluice/terminal/usage-error'
import { isFromPage, isOwnHost, isToken } from './access.ts'
import { page } from './page.built.ts'
import type { Body, Requests } from './requests.ts'
import type { Snapshot } from './store-watch.ts'

/** The page loads its own files and talks to its own server, and does nothing else. */
const FIELDS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    ...['img-src', 'script-src', 'style-src', 'connect-src'].map((kind) => `${kind} 'self'`),
    ...['base-uri', 'form-action', 'frame-ancestors'].map((kind) => `${kind} 'none'`),
  ].join('; '),
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // The address has the token.
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice: operations</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="main.css">
<script defer src="main.js"></script>
</head>
<body><noscript>This page needs JavaScript.</noscript></body>
</html>
`

const FILES: Readonly<Record<string, Pick<Reply, 'type' | 'body'>>> = {
  '': { type: 'text/html', body: HTML },
  'main.js': { type: 'text/javascript', body: page.script },
  'icon.svg': { type: 'image/svg+xml', body: page.icon },
  'main.css': { type: 'text/css', body: page.style },
}

/** Bytes of a request. */
const MAX_BODY = 65_536
const MAX_CONNECTIONS = 100

export interface ServerParts {
  readonly token: string
  /** The name or address that it listens on. */
  readonly host: string
  readonly requests: Requests
  look(): Snapshot
}

interface Reply {
  readonly status: number
  readonly type: string
  readonly body: string
}

/** The page for operators, and its requests, below a path that only its user knows. */
export function createOperatorServer(parts: ServerParts): Server {
  const server = createServer((request, response) => {
    answer(request, parts)
      .catch(toReply)
      .then((reply) => send(response, reply))
      .catch((error) => say(`sluice: ${messageOf(error)}`))
  })
  server.maxConnections = MAX_CONNECTIONS
  return server
}

async function answer(request: IncomingMessage, parts: ServerParts): Promise<Reply> {
  if (!isOwnHost(request, parts.host)) return problem(403, 'this server has another name')
  const [, token = '', name, more] = (request.url ?? '').split('/')
  // Without the token, every path is unknown.
  if (!isToken(token, parts.token) || name === undefined || more !== undefined) {
    return problem(404, 'not found')
  }
  if (request.method === 'GET') {
    if (name === 'state') return json(200, parts.look())
    return Object.hasOwn(FILES, name)
      ? { status: 200, ...(FILES[name] as (typeof FILES)[string]) }
      : problem(404, 'not found')
  }
  if (request.method !== 'POST') return problem(405, 'GET or POST')
  if (!isFromPage(request)) return problem(403, 'only the page itself may do this')
  const body = (await bodyOf(request)) ?? {}
  if (!Object.hasOwn(parts.requests, name)) return problem(404, 'not found')
  return json(200, await parts.requests[name]?.(body as Body))
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_BODY) throw new UsageError('the request is too long')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new UsageError('expected JSON')
  }
}

function toReply(error: unknown): Reply {
  const isMistake = error instanceof UsageError || error instanceof SluiceError
  return problem(isMistake ? 400 : 502, messageOf(error))
}

function problem(status: number, text: string): Reply {
  return json(status, { problem: text })
}

function json(status: number, value: unknown): Reply {
  return { status, type: 'application/json', body: JSON.stringify(printableReport(value)) }
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  // The rest of a request that was too long is not read.
  const connection = status === 200 ? {} : { Connection: 'close' }
  response
    .writeHead(status, { ...FIELDS, ...connection, 'Content-Type': `${type}; charset=utf-8` })
    .end(body)
}
