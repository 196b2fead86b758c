import { Timeline } from './timeline.ts'

/** What happened that must not. */
export interface Failure {
  /** The name of the check. */
  readonly check: string
  readonly what: string
  /** ms of the simulation, and how many events there were by then. */
  readonly at: number
  readonly event: number
}

/** Where something is played: its only clock, what happens, and what must not. */
export class Stage {
  readonly timeline = new Timeline()
  /** What has happened, line by line; empty unless it is told. */
  readonly story: string[] = []
  /** The first failure: nothing happens after it. */
  failure: Failure | undefined
  readonly #tells: boolean

  /** @param tells whether the story is told */
  constructor(tells: boolean) {
    this.#tells = tells
  }

  readonly tell = (who: string, what: () => string): void => {
    const { now } = this.timeline
    if (this.#tells) this.story.push(`${now.toFixed(3).padStart(12)}  ${who}: ${what()}`)
  }

  /** Something has happened that must not. */
  readonly fail = (check: string, what: string): void => {
    if (this.failure !== undefined) return
    this.tell('check', () => `${check}: ${what}`)
    const { now, events } = this.timeline
    this.failure = { check, what, at: now, event: events }
    this.timeline.stop()
  }

  /** No rejection may escape while this is played. */
  async play(act: () => Promise<void>): Promise<void> {
    const rejected = (error: unknown) => this.fail('escaped', `a rejection: ${error}`)
    process.on('unhandledRejection', rejected)
    try {
      await act()
    } finally {
      process.off('unhandledRejection', rejected)
    }
  }
}

export type Fail = Stage['fail']
