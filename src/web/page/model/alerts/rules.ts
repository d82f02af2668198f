import type { PastAlert } from '../api.ts'
import { getRules, testNotify } from '../api.ts'
import { change, current, load, messageOf, type State } from '../state.ts'

const REFRESH_MS = 30_000
const SOON_MS = 5000
let loadedAt = -Infinity

/** Loads the rules with the values of the selected targets, unless it has just done so: the address also has what the reader types. */
export async function loadRules() {
  const { request, answer } = current().rules
  const isSoon = performance.now() - loadedAt < SOON_MS
  if (answer === undefined || request !== asked() || !isSoon) await ask()
}

/** Loads them again while they are visible. @param at by `performance.now()` */
export function refreshRules(at: number) {
  const { view, snapshot } = current()
  if (view === 'alerts' && snapshot !== undefined && !document.hidden && at - loadedAt >= REFRESH_MS) void ask()
}

const asked = () => new URLSearchParams(current().target === '' ? {} : { target: current().target }).toString()

function ask() {
  loadedAt = performance.now()
  const query = asked()
  return load('rules', query, () => getRules(query), 'The rules could not be loaded')
}

/** The alerts of the selected targets that fired in the last seven days, newest first; of one rule, if it is given. */
export const firedOf = ({ pastAlerts = [], target }: State, rule?: string): PastAlert[] =>
  pastAlerts.filter((one) => (rule === undefined || one.alert === rule) && (target === '' || one.target === target))

/** Sends a sample to each receiver, and says what became of it. */
export async function sendTest() {
  change({ testing: { said: 'Sending…', problem: undefined, isSending: true } })
  try {
    const { results } = await testNotify()
    const failed = results.flatMap(({ receiver, problem }) => (problem === null ? [] : `${receiver}: ${problem}`))
    const accepted = results.filter(({ problem }) => problem === null).map(({ receiver }) => receiver)
    const said = accepted.length > 0 ? `Accepted by ${accepted.join(', ')}.` : ''
    change({ testing: { said, problem: failed.join('; ') || undefined, isSending: false } })
  } catch (error) {
    change({ testing: { said: '', problem: `Nothing was sent: ${messageOf(error)}.`, isSending: false } })
  }
}
