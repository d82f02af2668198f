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
  change({ finishedCalls: { ...current().finishedCalls, ...filter } })
  const { finishedCalls, snapshot } = current()
  // Without one it is not known what time it is: this machine's clock may be wrong.
  if (snapshot === undefined) return
  if (finishedCalls.since === 'time' && Number.isNaN(Date.parse(`${finishedCalls.from}Z`))) return
  const asOf = nowOf(snapshot)
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
