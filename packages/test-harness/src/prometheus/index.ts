export { prometheusBinary, promtoolBinary, whyNoPrometheus } from './binary.ts'
export { type Alert, type Prometheus, startPrometheus } from './prometheus.ts'
