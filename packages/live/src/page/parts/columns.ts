import { type Answer, isAdmitted } from '../traffic/answer.ts'

/** Requests this near in time are drawn in one column, ms. Windows end between two columns. */
export const COLUMN_MS = 500

export interface Column {
  /** ms on the server's clock. */
  readonly from: number
  readonly admitted: number
  readonly refused: number
}

/** Counts answers by the time at which they came, oldest first. */
export function columnsOf(answers: readonly Answer[]): Column[] {
  const columns = new Map<number, Column>()
  for (const answer of answers) {
    const from = Math.floor(answer.answeredAt / COLUMN_MS) * COLUMN_MS
    const { admitted, refused } = columns.get(from) ?? { admitted: 0, refused: 0 }
    const passed = isAdmitted(answer) ? 1 : 0
    columns.set(from, { from, admitted: admitted + passed, refused: refused + 1 - passed })
  }
  return [...columns.values()]
}
