import type { Results } from '../results.ts'

/** Results for tests. */
export const sampleResults: Results = {
  date: '2026-01-02T03:04:05.678Z',
  seconds: 12,
  machine: { CPU: '2 × some' },
  versions: { Node: '20.19.0' },
  measurements: [
    {
      title: 'One decision in memory, 10,000 keys',
      chart: 'One decision',
      unit: 'ns',
      reference: 'sluice sliding-window',
      rows: [
        { contender: 'sluice sliding-window', samples: [100, 110, 90, 100, 100] },
        { contender: 'peer', samples: [200, 210, 190, 200, 200] },
        { contender: 'like us', samples: [90, 150, 60, 110, 90] },
      ],
    },
  ],
  bars: [
    {
      work: 'One',
      unit: 'ns',
      contender: 'sluice',
      figure: { median: 100, best: 90 },
      peer: 'peer x',
      peerFigure: { median: 200, best: 190 },
      goal: { atMost: 1, verdict: 'met' },
      claim: 'for a decision',
    },
    {
      work: 'One',
      unit: 'ns',
      contender: 'floor: none',
      figure: { median: 10, best: 9 },
      peer: 'peer x',
      peerFigure: { median: 200, best: 190 },
    },
    {
      work: 'Two',
      unit: 'ns',
      contender: 'sluice',
      figure: { median: 100, best: 90 },
      peer: 'y',
      peerFigure: { median: 50, best: 40 },
      goal: { atMost: 1.5, verdict: 'not met' },
    },
  ],
}
