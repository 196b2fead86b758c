import { count } from '@sluice/terminal/words'
import type { Operations } from './operations.ts'
import { Clients } from './parts/clients.tsx'
import { Confirm } from './parts/confirm.tsx'
import { Counts } from './parts/counts.tsx'
import { FindClient } from './parts/find-client.tsx'
import { HistoryChart } from './parts/history-chart.tsx'
import { Networks } from './parts/networks.tsx'
import { Policies } from './parts/policies.tsx'
import { Servers } from './parts/servers.tsx'

export function App({ operations }: { operations: Operations }) {
  const { snapshot, lost, said } = operations
  const { ranking, problem, history = [], health = [] } = snapshot.value ?? {}
  const trouble = lost.value ?? problem
  return (
    <>
      <header class="title">
        <img src="icon.svg" alt="" width={28} height={28} />
        <h1>Sluice: operations</h1>
        {ranking?.isComplete === true && (
          <p>read at {new Date(ranking.at).toISOString().slice(11, 19)} UTC</p>
        )}
      </header>
      <main>
        <p class="trouble" role="alert">
          {trouble !== undefined && `Not up to date: ${trouble}`}
        </p>
        <p class="said" role="status">
          {said.value}
        </p>
        <p class="partial" role="status">
          {ranking === undefined && 'Reading the keys…'}
          {ranking?.isComplete === false &&
            `The first reading has not ended: everything here is of the ${count(ranking.looked, 'key')} read so far.`}
        </p>
        {ranking !== undefined && <Counts ranking={ranking} />}
        <div class="overview">
          <HistoryChart history={history} />
          <Servers health={health} />
        </div>
        <FindClient operations={operations} />
        {ranking !== undefined && <Networks operations={operations} ranking={ranking} />}
        {snapshot.value !== undefined && <Policies operations={operations} />}
        {ranking !== undefined && <Clients operations={operations} top={ranking.top} />}
      </main>
      <Confirm operations={operations} />
    </>
  )
}
