import type { ComponentChildren } from 'preact'
import type { Lane } from '../traffic/lane.ts'

/** A drawing of an algorithm's state. */
export type Drawing<State> = (props: { readonly lane: Lane<State> }) => ComponentChildren
