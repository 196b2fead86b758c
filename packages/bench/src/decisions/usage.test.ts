import { expect, it } from '@jest/globals'
import { parseUsage } from './usage.ts'

const info = [
  '# CPU',
  'used_cpu_sys:1.500000',
  'used_cpu_user:0.250000',
  'used_cpu_user_children:9.000000',
  'total_net_input_bytes:100',
  'total_net_output_bytes:20',
  'cmdstat_evalsha:calls=7,usec=70,usec_per_call=10.00,rejected_calls=0,failed_calls=0',
  'cmdstat_eval:calls=1,usec=9,usec_per_call=9.00,rejected_calls=0,failed_calls=0',
  'cmdstat_get:calls=3,usec=5,usec_per_call=1.66,rejected_calls=0,failed_calls=0',
].join('\r\n')

it('the usage of a server is read from what it tells of itself', () => {
  const usage = { cpuMicros: 1_750_000, scriptMicros: 79, calls: 8, bytes: 120 }
  expect(parseUsage(info)).toEqual(usage)
})

it('that of several is their sum', () => {
  const usage = { cpuMicros: 3_500_000, scriptMicros: 158, calls: 16, bytes: 240 }
  expect(parseUsage(`${info}\r\n${info}`)).toEqual(usage)
})
