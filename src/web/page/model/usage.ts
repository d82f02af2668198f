import { getReport, type Report } from './api.ts'
import { zoneName } from './format.ts'
import { addFilters, presetPeriod } from './period.ts'
import { current, load, serverTime } from './state.ts'
import { countsBy, OUTCOMES, sum } from './totals.ts'

/** By what a report has rows, in the order of its columns. */
export const KEYS = ['day', 'target', 'type', 'mode', 'receiver_type'] as const

/** The keys that the address names; by target where it names none, `by=none` is a single row. */
export function keysOf(query: URLSearchParams): (typeof KEYS)[number][] {
  const wanted = query.getAll('by').flatMap((names) => names.split(','))
  return wanted.length === 0 ? ['target'] : KEYS.filter((key) => wanted.includes(key))
}

/**
 * The parameters of `/api/v1/report` for the parameters of the view: this month where they name no period.
 *
 * @param now milliseconds since 1970
 */
export function usageRequest(query: URLSearchParams, now: number) {
  const request = new URLSearchParams()
  const [since, until] = [query.get('since') ?? '', query.get('until') ?? '']
  request.set('since', since === '' ? presetPeriod('month', now).since : since)
  if (until !== '') request.set('until', until)
  request.set('zone', zoneName())
  const by = keysOf(query)
  if (by.length > 0) request.set('by', by.join(','))
  return addFilters(request, query).toString()
}

/** Loads the report that the address names. */
export function loadUsage() {
  const request = usageRequest(current().query, serverTime())
  return load('usage', request, () => getReport(request), 'The report could not be loaded')
}

/** The sums of all rows. */
export function totalOf(rows: readonly Report['rows'][number][]) {
  const media = (kind: 'minutes' | 'participant_minutes') => ({
    audio: sum(rows, (row) => row[kind].audio),
    video: sum(rows, (row) => row[kind].video),
  })
  return {
    calls: countsBy(OUTCOMES, (status) => sum(rows, ({ calls }) => calls[status])),
    minutes: media('minutes'),
    participant_minutes: media('participant_minutes'),
    user_minutes: sum(rows, ({ user_minutes }) => user_minutes),
    noticed_late: sum(rows, ({ noticed_late }) => noticed_late),
  }
}
