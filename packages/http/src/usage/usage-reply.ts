import type { ClientUsage, PolicyUsage, RouteUsage } from './usage.ts'

export interface UsageReply {
  readonly status: 200 | 503
  readonly mediaType: string
  readonly body: string
}

/** @param accept the field `Accept` of the request: a browser gets a page, every other client JSON */
export function usageReply(usage: ClientUsage, accept = ''): UsageReply {
  const status = usage.complete || usage.policies.length > 0 ? 200 : 503
  const isPage = /\btext\/html\b/i.test(accept)
  return isPage
    ? { status, mediaType: 'text/html; charset=utf-8', body: pageOf(usage) }
    : { status, mediaType: 'application/json', body: JSON.stringify(usage) }
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}' +
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .8rem .4rem 0;border-bottom:1px solid #8886}' +
  'td:nth-child(n+2):nth-child(-n+4){font-variant-numeric:tabular-nums}'

function pageOf({ at, bannedUntil, complete, listed, policies, routes = [] }: ClientUsage): string {
  const notes = [
    ...(bannedUntil === undefined ? [] : [`Requests are refused until ${bannedUntil}.`]),
    ...(listed === 'allow' ? ['Requests are not limited.'] : []),
    ...(listed === 'deny' ? ['All requests are refused.'] : []),
    ...routes.map(sentenceOf),
    ...(complete ? [] : ['Not all of this is known at present.']),
  ]
  const head = ['Limit', 'Used', 'Left', 'Of', 'Full again'].map(
    (each) => `<th scope="col">${each}</th>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Usage</title><style>${STYLE}</style></head><body><h1>Usage</h1>
${notes.map((each) => `<p>${escaped(each)}</p>`).join('\n')}
<table><thead><tr>${head.join('')}</tr></thead><tbody>
${policies.map(rowOf).join('\n')}
</tbody></table>
<p>As of <time datetime="${at}">${at}</time></p></body></html>
`
}

function sentenceOf({ route, listed, bannedUntil, complete }: RouteUsage): string {
  if (bannedUntil !== undefined) return `${route}: requests are refused until ${bannedUntil}.`
  if (complete === false) return `${route}: this request does not say who would be limited there.`
  return listed === 'allow'
    ? `${route}: requests are not limited.`
    : `${route}: all requests are refused.`
}

function rowOf({
  dryRun,
  limit,
  policy,
  remaining,
  resetsAt,
  route,
  unit,
  used,
}: PolicyUsage): string {
  const name = [policy, route, dryRun && '(refuses nothing)'].filter(Boolean).join(' ')
  const cells = [used ?? '–', remaining, `${limit} ${unit}`, resetsAt]
  const rest = cells.map((each) => `<td>${escaped(String(each))}</td>`).join('')
  return `<tr><th scope="row">${escaped(name)}</th>${rest}</tr>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
