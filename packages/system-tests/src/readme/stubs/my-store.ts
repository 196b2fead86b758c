import { memoryStore, type Store } from '@sluice/core'

export const myStore = memoryStore as unknown as (options: {
  clock: () => number
}) => Store<'async'>
