/** Windows of the calendar that follow each other: when they begin, and the last one ends. */
export interface PlannedCalendar {
  /** What the policy is configured with. */
  readonly options: {
    readonly window: 'day' | 'week' | 'month'
    readonly timeZone?: string
    readonly anchor?: number | string
  }
  /** What is played is around the second one, ms since the epoch. */
  readonly turns: readonly [number, number, number]
  /** Its windows may begin on another day. None of these ends where one of the others does. */
  readonly other?: Pick<PlannedCalendar, 'turns'> & { readonly anchor: number | string }
}

/**
 * Windows around changes of clocks and short months. Their times come from the rules of the zones (the IANA time
 * zone database), written down by hand: core's own arithmetic is what they check.
 */
const PLANNED = {
  'a day in UTC': {
    options: { window: 'day' },
    turns: turns('2027-01-15T00:00Z', '2027-01-16T00:00Z', '2027-01-17T00:00Z'),
  },
  'after a day of 25 hours': {
    options: { window: 'day', timeZone: 'America/New_York' },
    turns: turns('2026-11-01T04:00Z', '2026-11-02T05:00Z', '2026-11-03T05:00Z'),
  },
  'after a day of 23 hours and a half': {
    options: { window: 'day', timeZone: 'Australia/Lord_Howe' },
    turns: turns('2026-10-03T13:30Z', '2026-10-04T13:00Z', '2026-10-05T13:00Z'),
  },
  'a day without midnight': {
    options: { window: 'day', timeZone: 'America/Santiago' },
    turns: turns('2026-09-05T04:00Z', '2026-09-06T04:00Z', '2026-09-07T03:00Z'),
  },
  'a week that begins on a Sunday': {
    options: { window: 'week', timeZone: 'Europe/Berlin', anchor: '2027-03-21' },
    turns: turns('2027-03-20T23:00Z', '2027-03-27T23:00Z', '2027-04-03T22:00Z'),
    other: {
      anchor: '2027-03-24',
      turns: turns('2027-03-23T23:00Z', '2027-03-30T22:00Z', '2027-04-06T22:00Z'),
    },
  },
  'a month from the 31st': {
    options: { window: 'month', timeZone: 'Asia/Kolkata', anchor: 31 },
    turns: turns('2027-01-30T18:30Z', '2027-02-27T18:30Z', '2027-03-30T18:30Z'),
    other: {
      anchor: 15,
      turns: turns('2027-02-14T18:30Z', '2027-03-14T18:30Z', '2027-04-14T18:30Z'),
    },
  },
} as const satisfies { readonly [name: string]: PlannedCalendar }

export type CalendarName = keyof typeof PLANNED
export const CALENDARS: { readonly [name in CalendarName]: PlannedCalendar } = PLANNED
export const CALENDAR_NAMES = Object.keys(CALENDARS) as CalendarName[]

/** The number of the window that a time is in. */
export function windowAt(name: CalendarName, at: number): number {
  return CALENDARS[name].turns.filter((turn) => turn <= at).length
}

/** When the window ends that a time is in, ms since the epoch. */
export function windowEnd(name: CalendarName, at: number): number {
  return CALENDARS[name].turns.find((turn) => turn > at) as number
}

/** A window of a client whose anchor may change: from, to, ms since the epoch. */
export interface AnchoredWindow {
  readonly start: number
  readonly end: number
}

/**
 * The window that counts what is charged at a time. One that has begun ends when it said; the next one begins then, and
 * lasts until the first window of the anchor ends that begins at that time or after it.
 *
 * @param before the one that counted before; undefined: none did
 * @param isOther whether the charge has the other anchor
 */
export function anchoredWindow(
  name: CalendarName,
  isOther: boolean,
  at: number,
  before: AnchoredWindow | undefined,
): AnchoredWindow {
  if (before !== undefined && at < before.end) return before
  const edges = (isOther && CALENDARS[name].other?.turns) || CALENDARS[name].turns
  const [first] = edges
  const start = edges.findLast((turn) => turn <= at) ?? first
  const next = (from: number) => edges.find((turn) => turn > from) ?? Infinity
  return before !== undefined && before.end > start
    ? { start: before.end, end: next(next(at)) }
    : { start, end: next(at) }
}

function turns(...times: readonly [string, string, string]): PlannedCalendar['turns'] {
  return times.map(Date.parse) as unknown as PlannedCalendar['turns']
}
