/** @param line `GET /path HTTP/1.1`, or anything else */
export function readRequest(entry: { method?: unknown; url?: unknown }, line: string): void {
  const [method, target] = line.split(' ')
  if (target === undefined) return
  entry.method = method
  entry.url = target.replace(/^https?:\/\/[^/]*/i, '') || '/'
}
