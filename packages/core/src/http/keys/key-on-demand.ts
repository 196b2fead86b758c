import { isPromise, type MaybePromise } from '../../maybe-promise.ts'
import type { KeyReader } from './key-reader.ts'

/** The key of a request, read when somebody asks for it, and only once. */
export class KeyOnDemand<Request> {
  /** Undefined: nobody has asked. */
  known: MaybePromise<string> | undefined
  private readonly reader: KeyReader<Request>
  private readonly request: Request

  constructor(reader: KeyReader<Request>, request: Request) {
    this.reader = reader
    this.request = request
  }

  read(): MaybePromise<string> {
    if (this.known === undefined) {
      this.known = this.reader(this.request)
      // The caller may not await it: its failure must not end the process then.
      if (isPromise(this.known)) this.known.catch(() => {})
    }
    return this.known
  }
}
