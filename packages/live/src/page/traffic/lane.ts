import { type Signal, signal } from '@preact/signals-core'
import { type Algorithm, WINDOW_MS } from '../../limits.ts'
import { type Answer, isAdmitted } from './answer.ts'
import { inAnyWindow, type Most, none } from './peak.ts'

/** How long answers are kept to be drawn, ms. Longer than a window, which the peak is found in. */
export const HISTORY_MS = 3 * WINDOW_MS

/** How an algorithm's state is known from its answers. */
export interface Model<State> {
  readonly untouched: State
  /** Reads an answer's fields; the algorithm's rule adds what they leave open. */
  answered(state: State, answer: Answer): State
  /** Default: in any window. */
  readonly most?: Most
}

/** One of the endpoints: what it has answered to this client. */
export class Lane<State> {
  readonly algorithm: Algorithm
  readonly model: Model<State>
  /** The state after the last answer; a drawing continues it. */
  readonly state: Signal<State>
  /** The last ones, in the order in which they came. */
  readonly answers = signal<readonly Answer[]>([])
  /** When each request was sent that has no answer yet. */
  readonly underWay = signal<readonly number[]>([])
  readonly admitted = signal(0)
  readonly most: Most
  readonly peak = signal(none)

  constructor(algorithm: Algorithm, model: Model<State>) {
    this.algorithm = algorithm
    this.model = model
    this.most = model.most ?? inAnyWindow
    this.state = signal(model.untouched)
  }

  /** Forgets everything, for a new client. */
  clear(): void {
    this.state.value = this.model.untouched
    this.answers.value = []
    this.underWay.value = []
    this.admitted.value = 0
    this.peak.value = none
  }

  sent(at: number): void {
    this.underWay.value = [...this.underWay.value, at]
  }

  received(answer: Answer): void {
    const { sentAt, answeredAt } = answer
    const known = this.answers.value
    // An answer that was decided later is known already, and counts this request.
    const late = known.some((other) => other.sentAt > sentAt)
    if (!late) this.state.value = this.model.answered(this.state.value, answer)
    this.answers.value = [
      ...known.filter((other) => other.answeredAt > answeredAt - HISTORY_MS),
      answer,
    ]
    const left = this.underWay.value.indexOf(sentAt)
    this.underWay.value = this.underWay.value.toSpliced(left, 1)
    if (!isAdmitted(answer)) return
    this.admitted.value += 1
    this.peak.value = this.most.after(this.peak.value, this.answers.value.filter(isAdmitted))
  }
}
