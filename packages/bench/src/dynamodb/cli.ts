// npm run bench -- dynamodb: what a decision on dynalite costs, beside its peers. Prints tables, and writes no file.

import { startDynamodb } from '@sluice/test-harness/dynamodb'
import { dynamodbContenders } from '../contenders/dynamodb.ts'
import { report } from '../postgres/measure.ts'
import { bundleScripts } from '../processes/bundle.ts'

await bundleScripts()
const server = await startDynamodb()
try {
  const packages = ['@aws-sdk/client-dynamodb', 'rate-limiter-flexible']
  await report(server, Object.keys(dynamodbContenders), packages, { server: 'dynalite' })
} finally {
  await server.stop()
}
