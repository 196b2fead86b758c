import uPlot from 'uplot'

/** uPlot's own, but for the width, which is the host's. */
export type ChartOptions = Omit<uPlot.Options, 'width'>

/** A chart as wide as its host, also when that changes, redrawn when the colours change. */
export function createChart(
  host: HTMLElement,
  options: ChartOptions,
  data: uPlot.AlignedData,
): uPlot {
  const chart = new uPlot({ ...options, width: host.clientWidth }, data, host)
  new ResizeObserver(() => {
    if (host.clientWidth > 0) chart.setSize({ width: host.clientWidth, height: options.height })
  }).observe(host)
  // Also its paths, in which uPlot keeps the colour of bars.
  for (const query of ['(prefers-color-scheme: dark)', 'print'])
    matchMedia(query).addEventListener('change', () => chart.redraw())
  return chart
}
