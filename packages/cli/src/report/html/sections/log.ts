import { count, number } from '@sluice/terminal/words'
import type { LogSource, Report } from '../../report.ts'
import { type Html, html } from '../html.ts'
import { table } from '../table.ts'
import { verbatim } from '../verbatim.ts'
import { section } from './section.ts'

const FORMATS = { combined: 'combined log', json: 'JSON lines', csv: 'CSV', pattern: 'a pattern' }

/** How the log was read: what of it could not be. */
export function log({ source }: Report): Html {
  const { lines, unreadable, early, late, format, unreadableLines, masked } = source
  return section(
    'log',
    'The log',
    html`<p>${count(lines, 'line')} of ${FORMATS[format]}, ${unreadable === 0 ? 'all of them readable' : `${number(unreadable)} of them unreadable`}.${
      late > 0 &&
      ` ${count(late, 'line')} came more than a minute after their place, and were played when they came.`
    }${
      early > 0 &&
      ` ${count(early, 'line')} had a time more than a minute ahead of the lines around, and were played when they came.`
    }</p>`,
    unreadableLines.length > 0 && [
      unreadableTable(unreadableLines),
      masked && html`<p class="note">Of their text: x for each letter, 0 for each digit.</p>`,
    ],
  )
}

function unreadableTable(lines: LogSource['unreadableLines']): Html {
  return table(
    'The first lines that could not be read',
    [
      { title: 'Line', cell: ({ name, line }) => html`<bdi>${name}</bdi>:${line}` },
      { title: 'Why', cell: ({ reason }) => reason },
      { title: 'Text', cell: ({ text }) => verbatim(text) },
    ],
    lines,
    { cards: true },
  )
}
