import { getCalls } from './api.js'
import { local, momentOf } from './format.js'
import { serverTime } from './server-time.js'
import { change, current } from './state.js'

/** @import { FinishedCalls, State } from './state.js' */

const MAX_CALLS = 50

/**
 * The parameters of `/api/v1/calls` for a filter.
 *
 * @param {Pick<State, 'target' | 'finishedCalls'>} state
 * @param {number} now UNIX seconds
 */
export function callsQuery({ target, finishedCalls: { status, since, from } }, now) {
  const begin = since === 'time' ? momentOf(from) / 1000 : now - Number(since)
  const query = new URLSearchParams({ since: String(Math.floor(begin)) })
  if (status !== '') query.set('status', status)
  if (target !== '') query.set('target', target)
  return query.toString()
}

/**
 * Loads finished calls, by a changed filter or by the same one.
 *
 * @param {Partial<FinishedCalls>} [filter]
 */
export async function loadCalls(filter = {}) {
  const { finishedCalls: before, snapshot } = current()
  // Only a snapshot has the time of the server; the clock of this machine may be wrong.
  if (snapshot === undefined) {
    change({ finishedCalls: { ...before, ...filter } })
    return
  }
  const asOf = serverTime()
  // The input for a time starts with the beginning of the calls that are shown.
  const isNew = filter.since === 'time' && before.since !== 'time'
  const from = isNew ? local(asOf - Number(before.since) * 1000).slice(0, 16) : before.from
  const finishedCalls = { ...before, from, ...filter }
  change({ finishedCalls })
  if (finishedCalls.since === 'time' && Number.isNaN(momentOf(finishedCalls.from))) {
    // Without a valid filter there are no calls below it.
    change({ finishedCalls: { ...finishedCalls, query: '', answer: undefined } })
    return
  }
  const query = callsQuery(current(), asOf / 1000)
  change({ finishedCalls: { ...finishedCalls, query } })
  /** @type {Pick<FinishedCalls, 'answer' | 'problem'>} */
  let outcome
  try {
    const answer = await getCalls(`${query}&limit=${MAX_CALLS}`)
    outcome = { answer, problem: undefined }
  } catch {
    outcome = { answer: finishedCalls.answer, problem: 'The calls could not be loaded. Try again.' }
  }
  // A newer request replaces this one.
  if (current().finishedCalls.query !== query) return
  change({ finishedCalls: { ...current().finishedCalls, ...outcome, asOf: new Date(asOf).toISOString() } })
}
