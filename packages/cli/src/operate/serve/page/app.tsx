import type { Operations } from './operations.ts'
import { Clients } from './parts/clients.tsx'
import { Confirm } from './parts/confirm.tsx'
import { Counts } from './parts/counts.tsx'
import { FindClient } from './parts/find-client.tsx'
import { HistoryChart } from './parts/history-chart.tsx'
import { Servers } from './parts/servers.tsx'

export function App({ operations }: { operations: Operations }) {
  const { snapshot, lost, said } = operations
  const { sweep, problem, history = [], health = [] } = snapshot.value ?? {}
  const trouble = lost.value ?? problem
  return (
    <>
      <header class="title">
        <h1>Sluice: operations</h1>
        {sweep !== undefined && <p>read at {new Date(sweep.at).toISOString().slice(11, 19)} UTC</p>}
      </header>
      <main>
        <p class="trouble" role="alert">
          {trouble !== undefined && `Not up to date: ${trouble}`}
        </p>
        <p class="said" role="status">
          {said.value}
        </p>
        {sweep === undefined ? <p>Reading the keys…</p> : <Counts sweep={sweep} />}
        <FindClient operations={operations} />
        {sweep !== undefined && <Clients operations={operations} top={sweep.top} />}
        <HistoryChart history={history} />
        <Servers health={health} />
      </main>
      <Confirm operations={operations} />
    </>
  )
}
