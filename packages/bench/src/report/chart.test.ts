import { describe, expect, it } from '@jest/globals'
import { toChart } from './chart.ts'
import type { Measurement, Results } from './results.ts'

const measurement: Measurement = {
  title: 'One count in memory',
  chart: 'One decision',
  unit: 'ns',
  reference: 'sluice sliding-window',
  rows: [
    { contender: 'slow peer', samples: [400, 400] },
    { contender: 'floor: Map.get', samples: [20, 20] },
    { contender: '<fast> peer', samples: [200, 200] },
    { contender: 'sluice fixed-window', samples: [90, 90] },
    { contender: 'sluice sliding-window', samples: [100, 100] },
  ],
}
const environment = {
  date: '2026-01-02T03:04:05.678Z',
  seconds: 0,
  machine: { CPU: '2 × some' },
  versions: { Node: '20.19.0' },
}
const footer =
  'Medians, with the middle half of the rounds; shorter is better · 2 × some · Node 20.19.0 · 2026-01-02'

function chartOf(...measurements: Measurement[]): string {
  const results: Results = { ...environment, measurements }
  return toChart(results)
}

const texts = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)

describe('the chart', () => {
  it('shows ours above the peers, the best of them first', () => {
    expect(texts(chartOf(measurement))).toEqual([
      'One decision',
      'sluice',
      '100 ns',
      '&lt;fast>',
      '200 ns',
      'slow',
      '400 ns',
      footer,
    ])
  })

  it('has bars as long as the medians', () => {
    const widths = [...chartOf(measurement).matchAll(/<rect.* width="([\d.]+)"/g)].map(
      ([, width]) => Number(width),
    )
    expect(widths.map((width) => width / (widths[2] as number))).toEqual([
      expect.closeTo(0.25, 2),
      expect.closeTo(0.5, 2),
      1,
    ])
  })

  it('has one panel below the other on a narrow screen', () => {
    const results = { ...environment, measurements: [measurement, measurement] }
    const [wide, narrow] = [toChart(results), toChart(results, 1)]
    const headings = (svg: string) =>
      [...svg.matchAll(/class="heading" x="(\d+)" y="(\d+)"/g)].map(([, x, y]) => [x, y])
    expect(headings(wide)).toEqual([
      ['40', '52'],
      ['460', '52'],
    ])
    expect(headings(narrow)).toEqual([
      ['40', '52'],
      ['40', '194'],
    ])
  })

  it('leaves out what has no heading for it', () => {
    const { chart: _, ...plain } = measurement
    expect(texts(chartOf(plain, measurement))).toHaveLength(8)
  })

  it('leaves out what noise makes negative', () => {
    const noisy = (median: number) => ({
      ...measurement,
      rows: [{ contender: 'peer', samples: [median] }, ...measurement.rows],
    })
    expect(texts(chartOf(noisy(-3), measurement))).toHaveLength(8)
    expect(texts(chartOf(noisy(3), measurement))).toHaveLength(17)
  })

  it('draws a sliver where a bar is too short to be seen', () => {
    const rows = [
      { contender: 'sluice', samples: [0.001] },
      { contender: 'peer', samples: [10] },
    ]
    const svg = chartOf({ ...measurement, reference: 'sluice', rows })
    expect(svg).toContain('width="1.0"')
  })
})
