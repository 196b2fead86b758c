// The same as koa.mjs, by require.

const { once } = require('node:events')
const { rateLimit } = require('@sluice/koa')
const Koa = require('koa')

async function main() {
  const app = new Koa()
  app.use(rateLimit({ limit: 2, window: '1d' }))
  app.use((ctx) => {
    ctx.body = 'hello'
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const statuses = []
  for (let i = 0; i < 3; i++)
    statuses.push((await fetch(`http://127.0.0.1:${server.address().port}/`)).status)

  console.log(JSON.stringify({ statuses }))
  process.exit()
}

main()
