import { MOMENT, readSeconds } from '../../../history/moment.ts'
import { DURATION_FORM } from '../../../schema/duration-text.ts'
import { isoOf, local, momentOf } from './format.ts'

/**
 * A time of the address (milliseconds since 1970), as the API reads it: ISO 8601, where a date and a time without an offset
 * are in the zone of the page, UNIX seconds, or how long ago; undefined where there is none.
 *
 * @param now milliseconds since 1970
 * @throws {RangeError} of any other text
 */
export function parameterTime(query: URLSearchParams, name: 'since' | 'until', now: number) {
  const text = query.get(name) ?? ''
  if (text === '') return undefined
  const seconds = readSeconds(text, now / 1000)
  if (seconds !== undefined) return seconds * 1000
  const hasOffset = /T.*(Z|[+-]\d{2}:\d{2})$/i.test(text)
  const time = hasOffset ? Date.parse(text) : momentOf(text.includes('T') ? text : `${text}T00:00`)
  if (Number.isNaN(time) || !/^\d{4}-\d{2}-\d{2}/.test(text))
    throw new RangeError(`${name}=${text} is not a time: expected ${MOMENT}`)
  return time
}

/**
 * The period of the address, for the API. Without a beginning it has that of `since`.
 *
 * @param now milliseconds since 1970
 * @param end of a period without an end
 * @throws {RangeError} where it is none
 */
export function periodOf(query: URLSearchParams, since: string, now: number, end = now) {
  const named = new URLSearchParams({ since: query.get('since') || since, until: query.get('until') ?? '' })
  const [from = 0, to] = [parameterTime(named, 'since', now), parameterTime(named, 'until', now)]
  if (from >= (to ?? end)) throw new RangeError('“From” is not before “Before”')
  // The API counts a time ago from now by the clock of the service, which may differ from that of callwatch.
  const shown = (text: string | null, time: number) =>
    DURATION_FORM.test(text!) ? text! : new Date(time).toISOString()
  return { since: shown(named.get('since'), from), ...(to !== undefined && { until: shown(named.get('until'), to) }) }
}

/** Adds the targets of the address, and those of its parameters that have a value. */
export function addFilters(request: URLSearchParams, query: URLSearchParams, names: readonly string[] = []) {
  for (const target of query.getAll('target')) request.append('target', target)
  for (const name of names) if (query.get(name)) request.set(name, query.get(name) ?? '')
  return request
}

/** The time of the address as an input of type datetime-local has it; '' where there is none. */
export function inputTime(query: URLSearchParams, name: 'since' | 'until', now: number) {
  try {
    const time = parameterTime(query, name, now)
    if (time === undefined) return ''
    const text = local(time).slice(0, 19)
    return text.endsWith(':00') ? text.slice(0, 16) : text
  } catch {
    return ''
  }
}

/** What an input of type datetime-local says, for the address. */
export const addressTime = (text: string) => (text === '' ? '' : isoOf(momentOf(text) / 1000))

export type Preset = 'month' | 'last-month' | `${number}${'h' | 'd'}`

/**
 * The calendar month of a time, or so many months later, as parameters; the present one has no end: it lasts until now.
 *
 * @param time milliseconds since 1970
 * @param now milliseconds since 1970
 */
export function monthPeriod(time: number, months: number, now: number) {
  const [year = 0, month = 0] = local(time).split('-').map(Number)
  const first = (later: number) => new Date(Date.UTC(year, month - 1 + later)).toISOString().slice(0, 10)
  const until = first(months + 1)
  return { since: first(months), until: until > local(now) ? '' : until }
}

/**
 * The period of a preset as parameters. `month`, and one such as `7d`, have no end: they last until now.
 *
 * @param now milliseconds since 1970
 */
export function presetPeriod(preset: Preset, now: number) {
  if (preset === 'month') return monthPeriod(now, 0, now)
  if (preset === 'last-month') return monthPeriod(now, -1, now)
  return { since: preset, until: '' }
}

/** The preset that has this period; '' for any other period. */
export function presetOf(query: URLSearchParams, now: number, presets: readonly (readonly [Preset, string])[]) {
  const asked = [query.get('since'), query.get('until')].join()
  return presets.find(([name]) => Object.values(presetPeriod(name, now)).join() === asked)?.[0] ?? ''
}
