import type { History } from './history.ts'
import { describePart, smallestPart } from './smallest-part.ts'

/** What was found of some histories. */
export interface Judgement {
  /** The keys whose history is none of the sequential limiter's, each with the part that shows it, for a person. */
  readonly wrong: readonly string[]
  /** The keys that could not be judged: what had no answer can be explained in too many ways. */
  readonly undecided: readonly string[]
}

export function judge(histories: ReadonlyMap<string, History>): Judgement {
  const wrong: string[] = []
  const undecided: string[] = []
  for (const [key, history] of histories) {
    const part = smallestPart(history)
    if (part === 'too many ways') undecided.push(key)
    else if (part !== 'possible')
      wrong.push(`${key}: no sequential limiter answers like this\n${describePart(part)}`)
  }
  return { wrong, undecided }
}
