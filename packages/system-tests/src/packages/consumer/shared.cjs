// Prints whether the entries of core, as CommonJS and as ESM, share one class of errors each.

const read = [(entry) => Promise.resolve(require(entry)), (entry) => import(entry)]
const entries = ['@sluice/core', '@sluice/core/internal', '@sluice/core/store']

async function main() {
  const shared = []
  for (const load of read) {
    const [core, internal, store] = await Promise.all(entries.map(load))
    const errors = [
      () => internal.readAdapterOption('hook', { hook: 'never' }),
      () => store.parseDuration('window', '1 mnute'),
      () => core.createLimiter({ limit: -1, window: '1m' }),
    ]
    const isOf = (act) => {
      try {
        act()
      } catch (error) {
        return error instanceof core.SluiceError
      }
    }
    shared.push(...errors.map(isOf))
  }
  console.log(JSON.stringify(shared))
}
main()
