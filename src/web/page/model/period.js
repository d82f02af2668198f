import { local, momentOf } from './format.js'

const MS_PER = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * A time of the address (milliseconds since 1970), as the API reads it: ISO 8601, where a date and a time without an offset
 * are in the zone of the page, UNIX seconds, or how long ago; undefined where there is none.
 *
 * @param {URLSearchParams} query
 * @param {'since' | 'until'} name
 * @param {number} now milliseconds since 1970
 * @throws {RangeError} of any other text
 */
export function parameterTime(query, name, now) {
  const text = query.get(name) ?? ''
  if (text === '') return undefined
  const [, count, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the expression has the same units
  if (unit !== undefined) return now - Number(count) * MS_PER[/** @type {keyof typeof MS_PER} */ (unit)]
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Number(text) * 1000
  const hasOffset = /T.*(Z|[+-]\d{2}:\d{2})$/i.test(text)
  const time = hasOffset ? Date.parse(text) : momentOf(text.includes('T') ? text : `${text}T00:00`)
  if (Number.isNaN(time) || !/^\d{4}-\d{2}-\d{2}/.test(text)) throw new RangeError(`${name}=${text} is not a time`)
  return time
}

/**
 * The time of the address as an input of type datetime-local has it; '' where there is none.
 *
 * @param {URLSearchParams} query
 * @param {'since' | 'until'} name
 * @param {number} now
 */
export function inputTime(query, name, now) {
  try {
    const time = parameterTime(query, name, now)
    if (time === undefined) return ''
    const text = local(time).slice(0, 19)
    return text.endsWith(':00') ? text.slice(0, 16) : text
  } catch {
    return ''
  }
}

/**
 * What an input of type datetime-local says, for the address.
 *
 * @param {string} text
 */
export const addressTime = (text) => (text === '' ? '' : new Date(momentOf(text)).toISOString().replace('.000Z', 'Z'))

/** @typedef {'month' | 'last-month' | `${number}${'h' | 'd'}`} Preset */

/**
 * The period of a preset as parameters. `month`, and one such as `7d`, have no end: they last until now.
 *
 * @param {Preset} preset
 * @param {number} now milliseconds since 1970
 */
export function presetPeriod(preset, now) {
  const [year = 0, month = 0] = local(now).split('-').map(Number)
  const first = (/** @type {number} */ months) =>
    new Date(Date.UTC(year, month - 1 + months)).toISOString().slice(0, 10)
  if (preset === 'month') return { since: first(0), until: '' }
  if (preset === 'last-month') return { since: first(-1), until: first(0) }
  return { since: preset, until: '' }
}

/**
 * The preset that has this period; '' for any other period.
 *
 * @param {URLSearchParams} query
 * @param {number} now
 * @param {readonly Preset[]} presets
 * @returns {Preset | ''}
 */
export function presetOf(query, now, presets) {
  const isSame = (/** @type {Preset} */ preset) => {
    const { since, until } = presetPeriod(preset, now)
    return since === query.get('since') && until === (query.get('until') ?? '')
  }
  return presets.find(isSame) ?? ''
}
