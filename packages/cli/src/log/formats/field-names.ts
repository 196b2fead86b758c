/** The fields of JSON lines and CSV that a replay reads: dotted paths, or names of columns. */
export interface FieldNames {
  /** The field of the client's key. */
  readonly key?: string
  readonly time?: string
  /** Default: each request costs 1. */
  readonly cost?: string
}

/** The usual names of a field, in the order in which they are looked for. */
export const USUAL_NAMES = {
  time: ['time', 'timestamp', '@timestamp', 'ts', 'date', 'datetime', 'msec', 'time_iso8601'],
  key: [
    'ip',
    'remote_addr',
    'client_ip',
    'clientIp',
    'remote_ip',
    'remoteAddress',
    'client',
    'request.client_ip',
    'request.remote_ip',
    'req.remoteAddress',
  ],
  user: ['user', 'remote_user', 'user_id', 'userId', 'user.id'],
  method: ['method', 'request_method', 'request.method', 'req.method'],
  url: ['url', 'uri', 'path', 'request_uri', 'request.uri', 'req.url'],
  status: ['status', 'status_code', 'res.statusCode'],
  bytes: ['bytes', 'body_bytes_sent', 'size'],
  userAgent: ['user_agent', 'http_user_agent', 'userAgent', 'req.headers.user-agent'],
  referer: ['referer', 'http_referer', 'req.headers.referer'],
} as const

export type Fact = keyof typeof USUAL_NAMES
