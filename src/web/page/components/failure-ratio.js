import { html } from '../html.js'
import { count, duration, labelText, percent } from '../model/format.js'
import { staleTargets } from '../model/notices.js'
import { REASONS, ruleRatios, rulesOfWindows, shownTargets, windowsOf } from '../model/totals.js'
import { Section } from './section.js'
import { Table } from './table.js'

/** @import { State } from '../model/state.js' */
/** @import { Rule } from '../model/api.js' */
/** @import { RuleRatio, Window } from '../model/totals.js' */

/**
 * The failure ratio of each window by reason, and of each rule with its threshold.
 *
 * @param {{ state: State }} props
 */
export function FailureRatio({ state }) {
  const targets = shownTargets(state)
  const rules = rulesOfWindows(targets)
  const ratios = ruleRatios(state)
  const stale = new Set(staleTargets(state).map(({ name }) => name))
  const table = (/** @type {string} */ which, /** @type {RuleRatio[]} */ shown) =>
    rulesTable(
      which,
      shown.map((ratio) => ruleRow(ratio, targets.length > 1, stale.has(ratio.target))),
    )
  const active = ratios.filter(({ alert }) => alert !== undefined)
  const inactive = ratios.filter(({ alert }) => alert === undefined)
  return html`<${Section} id="failure-ratio" title="Failure ratio">
    <${Table}
      label="Failure ratio"
      caption="Share of the finished calls of each window that failed, by reason"
      columns=${['Window', 'Calls', ...REASONS]}
      isNumeric
    >
      ${windowsOf(targets).map((window) => windowRow(window, rules))}
    <//>
    ${
      ratios.length > 0 &&
      html`<h3>Rule evaluation</h3>
        ${active.length > 0 && table('active rules', active)}
        ${
          inactive.length > 0 &&
          html`<details>
            <summary>${count(inactive.length)} inactive ${inactive.length === 1 ? 'rule' : 'rules'}</summary>
            ${table('inactive rules', inactive)}
          </details>`
        }`
    }
  <//>`
}

/**
 * @param {string} which
 * @param {unknown} rows
 */
function rulesTable(which, rows) {
  return html`<${Table}
    label=${`Failure ratio of ${which}`}
    caption=${`Failure ratio of ${which}, with the threshold`}
    columns=${['Rule', 'Calls', 'Ratio', 'Threshold']}
    isNumeric
    isTall
  >
    ${rows}
  <//>`
}

/**
 * @param {Window} window
 * @param {Rule[]} rules
 */
function windowRow({ window, seconds, calls, failure_ratio: ratio }, rules) {
  const rulesOf = (/** @type {string} */ reason) =>
    rules.filter((rule) => rule.window_seconds === seconds && rule.reason === reason)
  return html`<tr key=${window} data-window=${window}>
    <th scope="row">${window}</th>
    <td data-cell="calls">${count(calls)}</td>
    ${REASONS.map(
      (reason) =>
        html`<td data-cell=${reason}>
          ${
            ratio === null
              ? html`<span class="soft" title="fewer than 5 calls have no ratio">too few</span>`
              : percent(ratio[reason])
          }
          <${RatioBar} ratio=${ratio?.[reason]} reason=${reason} rules=${rulesOf(reason)} />
        </td>`,
    )}
  </tr>`
}

/**
 * @param {RuleRatio} ratio
 * @param {boolean} hasTarget whether to show the target
 * @param {boolean} stale whether the data of its target are stale
 */
function ruleRow({ target, rule, reading, alert }, hasTarget, stale) {
  const { name, severity, reason = 'any', breach, threshold, clear, window_seconds = 0, match, min_calls = 0 } = rule
  const { labels, value, calls } = reading
  const matched = labelText({ ...match, ...labels })
  const about = [
    ...(hasTarget ? [target] : []),
    reason,
    duration(window_seconds),
    ...(matched === '' ? [] : [matched]),
    `at least ${count(min_calls)} calls`,
  ]
  const isPast = value !== null && (breach === 'above' ? value > threshold : value < threshold)
  return html`<tr
    key=${[target, name, matched].join('|')}
    data-rule=${`${target} ${name}`}
    class=${stale ? 'stale' : ''}
  >
    <th scope="row">
      ${name} ${alert !== undefined && html`<span class="badge">${alert.state}</span> `}<span class="soft"
        >${about.join(', ')}</span
      >
    </th>
    <td>${count(calls)}</td>
    <td>
      <span class=${isPast ? severity : ''}>${value === null ? 'too few' : percent(value)}</span>
      <${RatioBar} ratio=${value} reason=${reason} rules=${[rule]} />
    </td>
    <td>
      ${breach} ${percent(threshold)}
      ${clear !== threshold && html`<span class="soft">clears at ${percent(clear)}</span>`}
    </td>
  </tr>`
}

/**
 * A bar from 0 to 100% with the thresholds of rules. The number beside it has the same information.
 *
 * @param {{ ratio: number | null | undefined, reason: string, rules: Rule[] }} props
 */
function RatioBar({ ratio, reason, rules }) {
  return html`<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
    <rect class="ground" width="100" height="6" y="2" />
    <rect class=${`fill ${reason}`} width=${(ratio ?? 0) * 100} height="6" y="2" />
    ${rules.map(
      ({ name, severity, threshold }) =>
        html`<line
          key=${name}
          class=${severity}
          data-rule=${name}
          x1=${threshold * 100}
          x2=${threshold * 100}
          y1="0"
          y2="10"
        />`,
    )}
  </svg>`
}
