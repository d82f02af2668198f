import { getReport } from './api.js'
import { zoneName } from './format.js'
import { presetPeriod } from './period.js'
import { serverTime } from './server-time.js'
import { change, current } from './state.js'

/** By what a report has rows, in the order of its columns. */
export const KEYS = /** @type {const} */ (['day', 'target', 'type', 'mode', 'receiver_type'])

/**
 * The keys that the address names; by target where it names none, `by=none` is a single row.
 *
 * @param {URLSearchParams} query
 * @returns {(typeof KEYS)[number][]}
 */
export function keysOf(query) {
  const wanted = query.getAll('by').flatMap((names) => names.split(','))
  return wanted.length === 0 ? ['target'] : KEYS.filter((key) => wanted.includes(key))
}

/**
 * The parameters of `/api/v1/report` for the parameters of the view: this month where they name no period.
 *
 * @param {URLSearchParams} query
 * @param {number} now milliseconds since 1970
 */
export function usageRequest(query, now) {
  const request = new URLSearchParams()
  const [since, until] = [query.get('since') ?? '', query.get('until') ?? '']
  request.set('since', since === '' ? presetPeriod('month', now).since : since)
  if (until !== '') request.set('until', until)
  request.set('zone', zoneName())
  const by = keysOf(query)
  if (by.length > 0) request.set('by', by.join(','))
  for (const target of query.getAll('target')) request.append('target', target)
  return request.toString()
}

/** Loads the report that the address names. */
export async function loadUsage() {
  const now = serverTime()
  const request = usageRequest(current().query, now)
  change({ usage: { request, answer: undefined, problem: undefined, asOf: new Date(now).toISOString() } })
  const outcome = await getReport(request).then(
    (answer) => ({ answer }),
    (error) => ({ problem: `The report could not be loaded: ${error.message}.` }),
  )
  if (current().usage.request === request) change({ usage: { ...current().usage, ...outcome } })
}

/** @import { Report } from './api.js' */
/** @typedef {Report['rows'][number]} Row */

/**
 * The sums of all rows.
 *
 * @param {readonly Row[]} rows
 */
export function totalOf(rows) {
  const sum = (/** @type {(row: Row) => number} */ of) => rows.reduce((total, row) => total + of(row), 0)
  const media = (/** @type {'minutes' | 'participant_minutes'} */ kind) => ({
    audio: sum((row) => row[kind].audio),
    video: sum((row) => row[kind].video),
  })
  return {
    calls: {
      ended: sum(({ calls }) => calls.ended),
      unanswered: sum(({ calls }) => calls.unanswered),
      rejected: sum(({ calls }) => calls.rejected),
      canceled: sum(({ calls }) => calls.canceled),
      other: sum(({ calls }) => calls.other),
      lost: sum(({ calls }) => calls.lost),
    },
    minutes: media('minutes'),
    participant_minutes: media('participant_minutes'),
    noticed_late: sum(({ noticed_late }) => noticed_late),
  }
}
