import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { prepare } from './work.ts'

const port = parentPort as MessagePort
const run = await prepare(workerData)
port.once('message', async () => port.postMessage(await run()))
port.postMessage('ready')
