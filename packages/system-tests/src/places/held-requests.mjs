// Loaded into a program that runs with --expose-gc: on SIGUSR2, it prints how many requests are not yet garbage.

import { subscribe } from 'node:diagnostics_channel'

const requests = []
subscribe('http.server.request.start', ({ request }) => {
  requests.push(new WeakRef(request))
})
process.on('SIGUSR2', () => {
  globalThis.gc()
  const held = requests.filter((each) => each.deref() !== undefined)
  process.stderr.write(`held: ${held.length} of ${requests.length}\n`)
})
