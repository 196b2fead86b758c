/** The exit codes, for scripts; documented in the README. */
export const EXIT = {
  ok: 0,
  /** A file, or everything in it, can't be read; or a function of the configuration threw. */
  failed: 1,
  /** The command line or the options are wrong. */
  usage: 2,
  /** Requests were refused, more than `--fail-if-refused` admits. */
  refused: 3,
  /** The store can't be reached, refuses the command, or fails while it is read or changed. */
  store: 4,
  /** Ctrl-C: the report shows what was played until then. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]
