// Serves dynalite, and prints its port. Dynalite lacks three things, which are added here from its own operations, all
// of them one at a time: TransactWriteItems, the item that made a condition fail, and TimeToLive.
//
// Operations of the tests: Test.Fail makes writes of keys with a text fail (`text`, `error`: the name of an error),
// Test.Count gives how often each operation was called.

import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import dynalite from 'dynalite'

const real = dynalite({ createTableMs: 0, deleteTableMs: 0 })
const prefix = 'DynamoDB_20120810.'
const failed = 'ConditionalCheckFailedException'
const ttl = new Map()
const counts = {}
let fault
let before = Promise.resolve()

createServer(async (req, res) => {
  const chunks = await req.toArray()
  const operation = req.headers['x-amz-target'].split('.')[1]
  const input = JSON.parse(Buffer.concat(chunks).toString())
  counts[operation] = (counts[operation] ?? 0) + 1
  const send = (name, body) => call(req.headers, name, body)
  const answering = before.then(() => answer(operation, input, send))
  before = answering.catch(() => {})
  const { status, body } = await answering
  res.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' })
  res.end(JSON.stringify(body))
}).listen(Number(process.argv[2] ?? 0), '127.0.0.1', function listening() {
  console.log(this.address().port)
})

/** Asks dynalite. */
function call(headers, operation, input) {
  const body = JSON.stringify(input)
  const req = Readable.from([Buffer.from(body)])
  const target = { 'x-amz-target': prefix + operation }
  Object.assign(req, { method: 'POST', url: '/', headers: { ...headers, ...target } })
  return new Promise((resolve) => {
    const end = (text) => resolve({ status: res.statusCode, body: JSON.parse(text) })
    const res = { statusCode: 200, setHeader() {}, end }
    real.emit('request', req, res)
  })
}

async function answer(operation, input, send) {
  if (operation === 'Fail') fault = input.error ? input : undefined
  if (operation === 'Count' || operation === 'Fail') return { status: 200, body: counts }
  const puts = input.TransactItems?.flatMap(({ Put = [] }) => Put) ?? [input]
  for (const each of fault && !operation.startsWith('Get') ? puts : [])
    if (await isFaulty(each, send))
      return refusal(fault.error, { message: 'made to fail by the test' })
  if (operation === 'PutItem') return put(input, send)
  if (operation === 'TransactWriteItems') return transact(input, send)
  if (operation === 'UpdateTimeToLive') {
    ttl.set(input.TableName, input.TimeToLiveSpecification.AttributeName)
    return { status: 200, body: { TimeToLiveSpecification: input.TimeToLiveSpecification } }
  }
  if (operation === 'DescribeTimeToLive' && ttl.has(input.TableName)) {
    const TimeToLiveDescription = {
      TimeToLiveStatus: 'ENABLED',
      AttributeName: ttl.get(input.TableName),
    }
    return { status: 200, body: { TimeToLiveDescription } }
  }
  return send(operation, input)
}

/** Whether a put changes a key that has the text of the fault. */
async function isFaulty({ TableName, Item }, send) {
  const { body } = await send('GetItem', { TableName, Key: { id: Item.id }, ConsistentRead: true })
  const [old, now] = [body.Item, Item].map((item) => item?.s?.M ?? {})
  return Object.keys({ ...old, ...now }).some(
    (name) =>
      (Item.id.S + name).includes(fault.text) &&
      JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  )
}

async function put({ ReturnValuesOnConditionCheckFailure: wanted, ...input }, send) {
  const answered = await send('PutItem', input)
  if (wanted !== 'ALL_OLD' || !answered.body.__type?.endsWith(failed)) return answered
  const { TableName, Item } = input
  const old = await send('GetItem', { TableName, Key: { id: Item.id }, ConsistentRead: true })
  return refusal(failed, { message: answered.body.message, Item: old.body.Item })
}

/** Puts one item after the other, and puts the old ones back if a condition fails. */
async function transact({ TransactItems }, send) {
  const undo = []
  const reasons = []
  for (const { Put, ConditionCheck } of TransactItems) {
    const { Key = { id: Put?.Item.id }, TableName, ...condition } = ConditionCheck ?? Put
    const { body } = await send('GetItem', { TableName, Key, ConsistentRead: true })
    const back = body.Item
      ? ['PutItem', { TableName, Item: body.Item }]
      : ['DeleteItem', { TableName, Key }]
    const written = await put({ TableName, Item: body.Item ?? Key, ...condition }, send)
    const isFailed = written.status !== 200
    if (isFailed && !written.body.__type.endsWith(failed)) return written
    reasons.push(
      isFailed ? { Code: 'ConditionalCheckFailed', Item: written.body.Item } : { Code: 'None' },
    )
    if (!isFailed) undo.push({ back, isCheck: Put === undefined })
  }
  const isCancelled = reasons.some(({ Code }) => Code !== 'None')
  for (const { back, isCheck } of undo) if (isCancelled || isCheck) await send(...back)
  if (!isCancelled) return { status: 200, body: {} }
  const codes = reasons.map(({ Code }) => Code).join(', ')
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`
  return refusal('TransactionCanceledException', { Message: message, CancellationReasons: reasons })
}

function refusal(name, body) {
  return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, ...body } }
}
