import { addressOf } from './address.js'
import { getAlerts } from './api.js'
import { parameterTime } from './period.js'
import { change, current } from './state.js'

/** @import { Silence } from './api.js' */
/** @import { Silencing, Snapshot } from './state.js' */

/** What a match may have. */
export const MATCH_KEYS = /** @type {const} */ (['alert', 'target', 'severity', 'type', 'mode', 'receiver_type'])

/**
 * The match that the address names.
 *
 * @param {URLSearchParams} query
 * @returns {Record<string, string>}
 */
export function matchOf(query) {
  return Object.fromEntries(
    MATCH_KEYS.flatMap((key) => {
      const value = query.get(key) ?? ''
      return value === '' ? [] : [[key, value]]
    }),
  )
}

/**
 * The number of the silence that the address names for editing; '' for a new one.
 *
 * @param {URLSearchParams} query
 */
export const editedIn = (query) => query.get('edit') ?? ''

/**
 * How long the silence is to last: a duration, `until` a time, or '' for what it lasts anyway.
 *
 * @param {URLSearchParams} query
 */
export const lengthIn = (query) => query.get('for') ?? (editedIn(query) === '' ? '1h' : '')

/**
 * The address at which a silence is edited.
 *
 * @param {Silence} silence
 */
export const editAddress = ({ id, match, reason, edits }) =>
  addressOf('silences', {
    ...match,
    ...(Object.keys(match).length === 0 && { all: 'true' }),
    reason,
    edit: `${id}`,
    edits: `${edits}`,
  })

/**
 * The body that adds or edits the silence of the address.
 *
 * @param {URLSearchParams} query
 * @param {number} now milliseconds since 1970
 * @throws {RangeError} where it has no end in the future
 */
export function silenceRequest(query, now) {
  const match = matchOf(query)
  const every = Object.keys(match).length === 0 && query.get('all') === 'true'
  const length = lengthIn(query)
  const reason = query.get('reason') ?? ''
  const edits = editedIn(query) === '' ? {} : { edits: Number(query.get('edits') ?? 0) }
  const lasts = length === '' ? {} : { for: length === 'until' ? secondsUntil(query, now) : length }
  return { ...(every ? { all: true } : { match }), ...lasts, reason, ...edits }
}

/**
 * @param {URLSearchParams} query
 * @param {number} now milliseconds since 1970
 */
function secondsUntil(query, now) {
  const seconds = Math.ceil(((parameterTime(query, 'until', now) ?? NaN) - now) / 1000)
  if (!(seconds > 0)) throw new RangeError('The end is not in the future')
  return `${seconds}s`
}

/**
 * The silences that are active, and those that expired of late, the newest first.
 *
 * @param {Snapshot | undefined} snapshot
 */
export function silencesIn(snapshot) {
  const now = Date.parse(snapshot?.status.now ?? '')
  const all = snapshot?.silences ?? []
  const isActive = (/** @type {Silence} */ { until }) => Date.parse(until) > now
  return {
    active: all.filter(isActive),
    expired: all
      .filter((silence) => !isActive(silence))
      .toSorted((one, other) => Date.parse(other.until) - Date.parse(one.until)),
  }
}

/**
 * The command that adds the silence of the address.
 *
 * @param {URLSearchParams} query
 */
export function silenceCommand(query) {
  const quote = (/** @type {string} */ text) =>
    /^[\w.:=~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
  const match = Object.entries(matchOf(query)).map(
    ([key, value]) => `${key}${value.startsWith('=~') ? '' : '='}${value}`,
  )
  const length = lengthIn(query)
  const options = [
    ...(match.length === 0 ? ['--all'] : match.map((one) => `--match ${quote(one)}`)),
    `--for ${/^\d+[smhdw]$/.test(length) ? length : '1h'}`,
  ]
  const reason = query.get('reason') ?? ''
  return ['callwatch silence add', ...options, ...(reason === '' ? [] : [`--reason ${quote(reason)}`])].join(' ')
}

/** While the user types, nothing is requested. */
const PAUSE_MS = 500
let loads = 0

/** Loads how many alerts the match of the address matches now. */
export async function loadSilencing() {
  const load = ++loads
  const before = current().silencing
  const request = new URLSearchParams(matchOf(current().query)).toString()
  const matched = request === before.request ? before.matched : undefined
  setSilencing({ request, matched, problem: undefined, done: '' })
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  if (load !== loads) return
  const outcome = await getAlerts(request).then(
    ({ alerts }) => ({ matched: alerts.filter(({ state }) => state !== 'pending').length }),
    (error) => ({ matched: undefined, problem: `${error.message}.` }),
  )
  if (load === loads) setSilencing(outcome)
}

/** @param {Partial<Silencing>} changed */
export const setSilencing = (changed) => change({ silencing: { ...current().silencing, ...changed } })
