import { html } from '../html.js'
import { count, local, minutes, percent, zone } from '../model/format.js'
import { mainWindow, shownAlerts, shownTargets, sum } from '../model/totals.js'

/** @import { State } from '../model/state.js' */
/** @import { Target } from '../model/api.js' */

/**
 * The most important numbers, large enough for a wall display.
 *
 * @param {{ state: State }} props
 */
export function Tiles({ state }) {
  const targets = shownTargets(state)
  const main = mainWindow(targets)
  const alerts = shownAlerts(state)
  const firing = alerts.filter(({ state }) => state !== 'pending').length
  return html`<section aria-label="At a glance">
    <dl class="tiles">
      ${tile('calls-now', 'Calls in progress', count(sum(targets, ({ in_progress }) => in_progress)), `${count(sum(targets, (one) => one.participants_in_progress))} participants`)}
      ${tile('failing', `Failed in ${main?.window ?? '15m'}`, percent(main?.any), ratioNote(main))}
      ${tile('alerts-firing', 'Alerts firing', count(firing), `${count(alerts.length - firing)} pending`, firing > 0 ? 'bad' : '')}
      ${tile('minutes-today', 'Participant minutes today (UTC)', minutes(sum(targets, (one) => one.participant_minutes_today.minutes)), sinceNote(targets, 'participant_minutes_today'))}
      ${tile('minutes-month', 'Participant minutes this month (UTC)', minutes(sum(targets, (one) => one.participant_minutes_this_month.minutes)), [sinceNote(targets, 'participant_minutes_this_month'), ...limits(targets)].join('; '))}
    </dl>
  </section>`
}

/**
 * @param {string} id
 * @param {string} name
 * @param {string} value
 * @param {string} note
 */
function tile(id, name, value, note, tone = '') {
  return html`<div class="card tile">
    <dt>${name}</dt>
    <dd id=${id} class=${`big ${tone}`}>${value}</dd>
    <dd class="soft">${note}</dd>
  </div>`
}

/** @param {ReturnType<typeof mainWindow>} window */
function ratioNote(window) {
  if (window === undefined) return ''
  return `${window.any === undefined ? 'too few: ' : ''}${count(window.calls)} finished ${window.calls === 1 ? 'call' : 'calls'}`
}

/**
 * The time since which callwatch counts: the start of the period, or the set-up of the first target if that is later.
 *
 * @param {Target[]} targets
 * @param {'participant_minutes_today' | 'participant_minutes_this_month'} period
 */
function sinceNote(targets, period) {
  const [first] = targets
  if (first === undefined) return ''
  const { since } = first[period]
  const created = targets.map((target) => target.created).toSorted()[0] ?? since
  const begin = created > since ? created : since
  return `participant minutes since ${local(begin).slice(0, 16).replace('T', ' ')} ${zone(begin)}`
}

/**
 * The budgets for the month.
 *
 * @param {Target[]} targets
 */
function limits(targets) {
  const rules = new Map(targets.flatMap(({ rules }) => rules).map((rule) => [rule.name, rule]))
  const budgets = [...rules.values()].filter(({ signal }) => signal === 'budget_minutes')
  return budgets.map(({ name, threshold, limit = 0 }) => `${name} fires above ${count(threshold * limit)}`)
}
