export { default as uPlot } from 'uplot'
export { countAxis, plainAxis } from './axes.ts'
export { type ChartOptions, createChart } from './chart.ts'
export { colour, faint } from './colour.ts'
