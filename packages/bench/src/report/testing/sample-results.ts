import type { Results } from '../results.ts'

/** Results for tests. */
export const sampleResults: Results = {
  date: '2026-01-02T03:04:05.678Z',
  seconds: 12,
  machine: { CPU: '2 × some' },
  versions: { Node: '20.19.0' },
  measurements: [
    {
      title: 'CPU of Redis, one request at a time',
      chart: 'One decision',
      unit: 'µs',
      reference: 'sluice sliding-window',
      rows: [
        { contender: 'sluice sliding-window', samples: [100, 110, 90, 100, 100] },
        { contender: 'peer x', samples: [200, 210, 190, 200, 200] },
        { contender: 'floor: none', samples: [10, 11, 9, 10, 10] },
      ],
    },
    {
      title: 'Median latency on Redis, one request at a time',
      unit: 'ms',
      rows: [
        { contender: 'sluice sliding-window', samples: [2, 2, 2, 2, 2] },
        { contender: 'y', samples: [1, 1, 1, 1, 1] },
      ],
    },
  ],
}
