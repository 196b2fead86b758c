import type { ComponentChildren } from 'preact'
import type { Lane } from '../traffic/lane.ts'

/** A drawing of an algorithm's state. */
export type Drawing<State> = (props: { readonly lane: Lane<State> }) => ComponentChildren

/** An algorithm as the page shows it. */
export interface View<State> {
  /** A `Drawing`, written as a method so that views of all states fit into one table. */
  Drawing(props: { readonly lane: Lane<State> }): ComponentChildren
  /** Describes the algorithm in a sentence or two. */
  readonly about: string
}
