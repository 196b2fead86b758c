import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The usage of a call, as the provider bills it. */
export interface Billed {
  readonly input: number
  readonly output: number
}

interface Asked {
  readonly model: string
  readonly stream?: boolean
  readonly stream_options?: { include_usage?: boolean }
  readonly tools?: readonly {
    readonly name?: string
    readonly function?: { readonly name: string }
  }[]
  readonly [bound: string]: unknown
}

/** A stand-in for the APIs of OpenAI and Anthropic, which bills what it has written. */
export interface ModelServer {
  readonly url: string
  /** The bodies of the requests that it has answered. */
  readonly asked: Asked[]
  /** The sum of what it has billed. */
  readonly bill: { input: number; output: number }
  /** The bills by the field `user` of the requests: whole answers, and those that nobody read to the end. */
  readonly bills: Map<string, { ended: number; left: number }>
  /** Replaces an answer: a status, or after how many tokens (a whole answer: characters) the connection breaks. */
  fails: { status?: number; after?: number }
  /** In place of its text, each whole answer calls the first tool so often. */
  toolCalls: number
  close(): Promise<void>
}

/**
 * @param using what each call uses. Cached: 40 tokens
 * @param pace awaited before each token of a stream
 */
export async function startModelServer(
  using: Billed | (() => Billed) = { input: 100, output: 20 },
  pace: () => Promise<unknown> = async () => {},
): Promise<ModelServer> {
  const asked: Asked[] = []
  const bill = { input: 0, output: 0 }
  const bills: ModelServer['bills'] = new Map()
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request)) as Asked
    asked.push(body)
    const { status } = model.fails
    if (status !== undefined) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'no', type: 'server_error' } }))
      return
    }
    const used = typeof using === 'function' ? using() : using
    bill.input += used.input
    const own = bills.get(`${body.user}`) ?? { ended: 0, left: 0 }
    bills.set(`${body.user}`, own)
    let output = 0
    response.on('close', () => {
      own[response.writableFinished ? 'ended' : 'left'] += used.input + output
    })
    const api = apiOf(request.url as string, body, used, model.toolCalls)
    if (body.stream !== true) {
      output = used.output
      bill.output += output
      response.writeHead(200, { 'content-type': 'application/json' })
      const whole = JSON.stringify(api.whole)
      if (model.fails.after === undefined) response.end(whole)
      else response.write(whole.slice(0, model.fails.after), () => response.destroy())
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = (event: object) => {
      const { type } = event as { type?: string }
      response.write(
        `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`,
      )
    }
    for (const event of api.before) write(event)
    for (let i = 0; i < used.output && !response.destroyed; i += 1) {
      await pace()
      if (response.destroyed) return
      if (model.fails.after === i) {
        await new Promise((resolve) => response.write(': the last that arrives\n\n', resolve))
        response.destroy()
        return
      }
      write(api.token)
      bill.output += 1
      output += 1
    }
    for (const event of api.after) write(event)
    if (api.isChat) response.write('data: [DONE]\n\n')
    response.end()
  })
  // A request must not meet a connection that is being closed.
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const model: ModelServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    bill,
    bills,
    fails: {},
    toolCalls: 0,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return model
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

/** The parts of an answer, in the form of the API that a path names. */
function apiOf(
  path: string,
  { model, stream_options, tools: [tool] = [] }: Asked,
  { input, output }: Billed,
  toolCalls: number,
) {
  const ids = tool ? Array.from({ length: toolCalls }, () => randomUUID()) : []
  const called = { name: tool?.function?.name ?? tool?.name, arguments: '{}' }
  if (path.endsWith('/chat/completions')) {
    const usage = {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: 40 },
    }
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model }
    const choice = (delta: object, finish_reason: string | null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    })
    const calls = ids.map((id) => ({ id, type: 'function', function: called }))
    const message = {
      role: 'assistant',
      content: 'word '.repeat(output),
      refusal: null,
      ...(calls.length > 0 && { content: null, tool_calls: calls }),
    }
    const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop'
    return {
      isChat: true,
      whole: {
        ...chunk,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason }],
        usage,
      },
      before: [choice({ role: 'assistant', content: '' }, null)],
      token: choice({ content: 'word ' }, null),
      after: [
        choice({}, 'stop'),
        ...(stream_options?.include_usage === true ? [{ ...chunk, choices: [], usage }] : []),
      ],
    }
  }
  if (path.endsWith('/responses')) {
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    }
    const content = [{ type: 'output_text', text: 'word '.repeat(output), annotations: [] }]
    const item = { id: 'm', type: 'message', role: 'assistant', status: 'completed', content }
    const calls = ids.map((id) => ({
      ...{ id, call_id: id, type: 'function_call', status: 'completed' },
      ...called,
    }))
    const response = {
      id: 'r',
      object: 'response',
      created_at: 1,
      model,
      status: 'completed',
      output: calls.length > 0 ? calls : [item],
      usage,
    }
    const running = { ...response, status: 'in_progress', output: [], usage: null }
    const at = { item_id: 'm', output_index: 0, content_index: 0 }
    return {
      whole: response,
      before: [
        { type: 'response.created', response: running },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      ],
      token: { type: 'response.output_text.delta', ...at, delta: 'word ' },
      after: [
        { type: 'response.output_item.done', output_index: 0, item },
        { type: 'response.completed', response },
      ],
    }
  }
  if (path.endsWith('/embeddings')) {
    const usage = { prompt_tokens: input, total_tokens: input }
    const data = [{ object: 'embedding', index: 0, embedding: [0.5] }]
    return { whole: { object: 'list', model, data, usage }, before: [], token: {}, after: [] }
  }
  // Anthropic's input has not what was read from its cache.
  const counted = {
    input_tokens: input - 40,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: null,
  }
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model,
    stop_reason: null,
    stop_sequence: null,
  }
  const text = { type: 'text', text: 'word '.repeat(output) }
  const usage = { ...counted, output_tokens: output }
  return {
    whole: { ...message, content: [text], stop_reason: 'end_turn', usage },
    before: [
      {
        type: 'message_start',
        message: { ...message, content: [], usage: { ...counted, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    token: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } },
    after: [
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: output },
      },
      { type: 'message_stop' },
    ],
  }
}
