import type { ComponentChildren } from 'preact'
import type { Lane } from '../traffic/lane.ts'

export interface DrawingProps<State> {
  readonly lane: Lane<State>
}

/** A drawing of an algorithm's state. */
export type Drawing<State> = (props: DrawingProps<State>) => ComponentChildren
