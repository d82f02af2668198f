import { getCalls } from './api.js'
import { change, current } from './state.js'

/** @import { FinishedCalls, State } from './state.js' */

/**
 * The parameters of `/api/v1/calls` that ask for the calls that are to be shown.
 *
 * @param {Pick<State, 'target' | 'finishedCalls'>} state
 * @param {number} now UNIX seconds
 */
export function callsQuery({ target, finishedCalls: { status, since, from } }, now) {
  const begin = since === 'time' ? Date.parse(`${from}Z`) / 1000 : now - Number(since)
  const query = new URLSearchParams({ finished_since: String(Math.floor(begin)) })
  if (status !== '') query.set('status', status)
  if (target !== '') query.set('target', target)
  return query.toString()
}

/**
 * Asks for finished calls, by another filter or once more by the same.
 *
 * @param {Partial<FinishedCalls>} [filter]
 */
export async function askForCalls(filter = {}) {
  const { finishedCalls: before, snapshot } = current()
  // Without one it is not known what time it is: this machine's clock may be wrong.
  if (snapshot === undefined) {
    change({ finishedCalls: { ...before, ...filter } })
    return
  }
  const asOf = nowOf(snapshot)
  // Who wants to name a time begins with the one from which calls are shown.
  const isNew = filter.since === 'time' && before.since !== 'time'
  const from = isNew ? new Date(asOf - Number(before.since) * 1000).toISOString().slice(0, 16) : before.from
  const finishedCalls = { ...before, from, ...filter }
  change({ finishedCalls })
  if (finishedCalls.since === 'time' && Number.isNaN(Date.parse(`${finishedCalls.from}Z`))) {
    // Calls of another filter are not left below this one.
    change({ finishedCalls: { ...finishedCalls, query: '', answer: undefined } })
    return
  }
  const query = callsQuery(current(), asOf / 1000)
  change({ finishedCalls: { ...finishedCalls, query } })
  /** @type {Pick<FinishedCalls, 'answer' | 'problem'>} */
  let outcome
  try {
    const answer = await getCalls(`${query}&limit=${finishedCalls.limit}`)
    outcome = { answer, problem: undefined }
  } catch {
    outcome = { answer: finishedCalls.answer, problem: 'The calls could not be read. Try again.' }
  }
  // Who asked for something else meanwhile waits for that.
  if (current().finishedCalls.query !== query) return
  change({ finishedCalls: { ...current().finishedCalls, ...outcome, asOf: new Date(asOf).toISOString() } })
}

/**
 * The server's clock (milliseconds since 1970).
 *
 * @param {import('./state.js').Snapshot} snapshot
 */
function nowOf({ status, takenAt }) {
  return Date.parse(status.now) + performance.now() - takenAt
}
