import { capital, formatNumber, formatSeconds, formatSync, plural } from '../../../text/format.ts'
import { plainText } from '../../../text/plain-text.ts'
import type { Receiver, Target } from './api.ts'
import { moment, momentInZone, secondsBetween } from './format.ts'
import { isPart, MOST_INCIDENTS, shownIncidents } from './alerts/incidents.ts'
import { nowOf, type State } from './state.ts'
import { isPolled, shownAlerts, shownTargets } from './totals.ts'

/** Polls that end so soon after each other fail together. */
const TOGETHER_MS = 60_000

/** What is wrong, such as why the shown data are not live. Screen readers read `text` once; `age` changes each second. `isCalm`: it is no fault. */
export type Notice = { text: string; age: string; isCalm?: boolean }

/** Why the shown data are not live, and why notifications do not arrive. */
export const noticesOf = (state: State) => [...liveNotices(state), ...deliveryNotices(state)]

/** The reason why the shown data are not live, the one that explains others; none if they are. */
function liveNotices(state: State): Notice[] {
  const { snapshot, connected, needsPassword } = state
  const why = needsPassword ? 'callwatch asks for a password: reload the page.' : 'Not connected to callwatch.'
  if (snapshot === undefined) return connected ? [] : [{ text: `${why} No data yet.`, age: '' }]
  const { now, problem } = snapshot
  if (!connected) {
    const text = `${why} Data of ${momentInZone(now, now)}.`
    return [{ text, age: `${formatSeconds(snapshotAge(state))} ago` }]
  }
  if (problem !== null) return [{ text: sentence(problem), age: '' }]
  // Of those that fail alike, the one that has waited longest, as messages say it.
  const [first, ...others] = staleTargets(state).toSorted(
    (a, b) => Number(isFirst(a)) - Number(isFirst(b)) || b.lag_seconds - a.lag_seconds,
  )
  if (first === undefined || [first, ...others].every(toldBy(state))) return []
  const { text, ...rest } = staleNotice(first, ageOfTargets(state), now)
  const of = plural(shownTargets(state).length, 'target')
  const have = rest.isCalm ? 'are in their initial sync' : 'have no successful poll'
  const all = others.length === 0 ? '' : `${formatNumber(others.length + 1)} of ${of} ${have}. `
  return [{ text: `${all}${text}`, ...rest }]
}

/** Whether what the view says of alerts says it of a target: the head of the overview also where they will fire soon, as the polls failed no earlier. */
function toldBy(state: State) {
  const alerts = shownAlerts(state).filter(({ signal, state }) => signal === 'poll_age' && state === 'firing')
  if (state.view === 'alert') return () => alerts.some(({ alert }) => alert === state.query.get('alert'))
  const told = state.view === 'overview' ? shownIncidents(state).slice(0, MOST_INCIDENTS) : []
  const since = told.flatMap(({ incident }) => (alerts.some((one) => isPart(one, incident)) ? incident.since : []))
  return ({ last_success: last }: Target) =>
    last !== null && since.some((time) => Date.parse(last) > Date.parse(time) - TOGETHER_MS)
}

/** Why notifications do not arrive, in a sentence for the first receiver that fails. */
function deliveryNotices({ snapshot, view }: Pick<State, 'snapshot' | 'view'>): Notice[] {
  const { receivers, now = '' } = snapshot ?? {}
  if (receivers === undefined) return []
  if (view === 'overview' && receivers.length === 0) {
    const text =
      'No receiver of notifications is configured: alerts are only written to the log. Set notify.slack, for example.'
    return [{ text, age: '', isCalm: true }]
  }
  const [first, ...others] = receivers.filter(({ failing_since: since }) => since !== undefined)
  if (first?.failing_since === undefined) return []
  const { name, pending, failing_since: since, problem = '' } = first
  const more = others.length === 0 ? '' : ` ${others.map((one) => one.name).join(', ')} fails, too.`
  const text = `${name}: no notification could be delivered since ${momentInZone(since, now)}. ${sentence(problem)}${more}`
  return [{ text, age: pending === 0 ? '' : `${formatNumber(pending)} waiting` }]
}

/** Why a receiver gets nothing, or not all messages. */
export function failureText({ failing_since: since, problem = '', next_attempt: next }: Receiver, now: string) {
  const again = next === undefined ? '' : `; the next attempt is at ${moment(next, now)}`
  return `${since === undefined ? 'refuses some messages' : 'fails'}: ${problem}${again}`
}

/** The selected targets whose data are stale. */
export const staleTargets = (state: State) => shownTargets(state).filter(isStale)

export const isStale = ({ state }: Target) => state !== 'up' && state !== 'failing'

/** What is said where no polled target has had a call; undefined where one has. */
export function noCallsYet(state: State) {
  const targets = shownTargets(state).filter(isPolled)
  const [first] = targets.toSorted((a, b) => Date.parse(a.created) - Date.parse(b.created))
  const hasCalls = ({ started, tracked_calls: tracked, windows }: Target) =>
    started + tracked > 0 || windows.some(({ calls }) => calls > 0)
  if (first === undefined || targets.some(hasCalls)) return undefined
  const polled = targets.length === 1 ? first.name : plural(targets.length, 'target')
  return `No calls yet. callwatch has polled ${polled} for ${formatSeconds(secondsBetween(first.created, nowOf(state)))}.`
}

/** Whether the initial sync of a target has not ended, and nothing is wrong with it. */
const isFirst = ({ state }: Target) => state === 'initial sync'

/** What is wrong with a target; '' if nothing is. */
export const problemText = (target: Target) => (isFirst(target) ? '' : plainText(target.problem ?? ''))

/** Whether the page shows what callwatch knows now. */
export const isLive = ({ connected, snapshot }: State) => connected && !snapshot?.problem

/** Whether data are missing only because initial syncs have not ended. */
export function isSyncing(state: State) {
  const stale = staleTargets(state)
  return isLive(state) && stale.length > 0 && stale.every(isFirst)
}

/** Whether all that the page shows is stale, and not some targets alone. */
export function isAllStale(state: State) {
  const stale = staleTargets(state).length
  return state.snapshot !== undefined && (!isLive(state) || (stale > 0 && stale === shownTargets(state).length))
}

/**
 * @param age of the ages of targets (seconds)
 */
function staleNotice(target: Target, age: number, now: string): Notice {
  const { name, last_success, lag_seconds } = target
  const problem = problemText(target)
  const why = problem && ` ${sentence(problem)}`
  if (last_success === null) return { ...firstNotice(target, why), isCalm: problem === '' }
  const text = `${name}: no successful poll since ${momentInZone(last_success, now)}.${why}`
  return { text, age: `for ${formatSeconds(lag_seconds + age)}` }
}

function firstNotice(target: Target, why: string): Notice {
  const age = syncText(target)
  const what = age === '' ? 'waiting for the initial sync.' : 'the past calls are read first.'
  return { text: `${target.name}: ${what}${why}`, age }
}

/** How far the reading of a target's list is; empty before its first page. */
export function syncText({ listing }: Target) {
  const { pages_read: pagesRead = 0, pages, seconds_left: secondsLeft } = listing ?? {}
  return pagesRead === 0 ? '' : formatSync({ pagesRead, pages, secondsLeft })
}

/** The selected targets whose polls succeed. */
export const polledTargets = (state: State) => shownTargets(state).filter((target) => target.state === 'up')

/** How old the ages of targets are (seconds). */
export const ageOfTargets = ({ snapshot, now }: Pick<State, 'snapshot' | 'now'>) =>
  snapshot === undefined ? 0 : Math.max(0, (now - snapshot.agesAt) / 1000)

/** The age of the snapshot (seconds). */
export function snapshotAge({ snapshot, now }: Pick<State, 'snapshot' | 'now'>) {
  return snapshot === undefined ? 0 : Math.max(0, (now - snapshot.takenAt) / 1000)
}

function sentence(text: string) {
  return `${capital(text)}${/[.!?]$/.test(text) ? '' : '.'}`
}
