import { expect, it } from '@jest/globals'
import { parseUsage } from './usage.ts'

it('the usage of a server is read from what it tells of itself', () => {
  const info = [
    '# CPU',
    'used_cpu_sys:1.500000',
    'used_cpu_user:0.250000',
    'used_cpu_user_children:9.000000',
    'total_net_input_bytes:100',
    'total_net_output_bytes:20',
    'cmdstat_evalsha:calls=7,usec=70,usec_per_call=10.00',
    'cmdstat_eval:calls=1,usec=9,usec_per_call=9.00',
  ].join('\r\n')
  expect(parseUsage(info)).toEqual({ cpuMicros: 1_750_000, calls: 8, bytes: 120 })
})
