import { LIMIT, WINDOW_MS } from './limits.ts'

/** Sends two requests more than the limit from the terminal, and prints what came back. */
export async function demonstrate(url: string, where: string): Promise<void> {
  const target = `${url}/try/sliding-window`
  console.log(`Open ${url} in a browser: it shows six limiters handling the same requests, live.\n`)
  console.log(
    `Sending ${LIMIT + 2} requests to ${target}, which admits ${LIMIT} per ${WINDOW_MS / 1000} s, counted in ${where}:\n`,
  )
  for (let i = 1; i <= LIMIT + 2; i += 1) {
    const response = await fetch(target, { headers: { 'Demo-Client': 'terminal' } })
    const usage = response.headers.get('ratelimit')
    const retry = response.headers.get('retry-after')
    const wait = retry === null ? '' : `  Retry-After: ${retry}`
    console.log(`request ${i}: ${response.status}  RateLimit: ${usage}${wait}`)
    await response.arrayBuffer()
  }
  console.log(`\nTry it yourself:  curl -i ${target}\nStop with Ctrl-C.`)
}
