import { defineWorker } from '../worker.ts'

const ways: Record<string, () => Promise<never>> = {
  throws: () => Promise.reject(new Error('thrown in the worker')),
  exits: async () => {
    console.error('last words')
    return process.exit(7)
  },
  hangs: () => new Promise(() => {}),
}

defineWorker(async ({ how }: { how: string }) => ways[how]!)
