import { html } from '../html.js'
import { count, percent } from '../model/format.js'
import { REASONS, rulesOfWindows, shownTargets, windowsOf } from '../model/totals.js'
import { JudgedRatios } from './judged-ratios.js'
import { RatioBar } from './ratio-bar.js'
import { Section } from './section.js'
import { Wide } from './wide.js'

/** @import { State } from '../model/state.js' */
/** @import { Rule } from '../model/api.js' */
/** @import { Window } from '../model/totals.js' */

/**
 * The failure ratio of each window by reason, and what the rules make of it.
 *
 * @param {{ state: State }} props
 */
export function FailureRatio({ state }) {
  const targets = shownTargets(state)
  const rules = rulesOfWindows(targets)
  return html`<${Section} id="failure-ratio" title="Failure ratio">
    <${Wide} label="Failure ratio">
      <table class="numbers">
        <caption class="announced">
          Share of the finished calls of each window that failed, by reason
        </caption>
        <thead>
          <tr>
            <th scope="col">Window</th>
            <th scope="col"><abbr title="finished calls in the window">n</abbr></th>
            ${REASONS.map((reason) => html`<th scope="col">${reason}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${windowsOf(targets).map((window) => row(window, rules))}
        </tbody>
      </table>
    <//>
    <${JudgedRatios} targets=${targets} />
  <//>`
}

/**
 * @param {Window} window
 * @param {Rule[]} rules
 */
function row({ window, seconds, calls, ratio }, rules) {
  const drawn = (/** @type {string} */ reason) =>
    rules.filter((rule) => rule.window_seconds === seconds && rule.reason === reason)
  return html`<tr key=${window} data-window=${window}>
    <th scope="row">${window}</th>
    <td data-cell="n">${count(calls)}</td>
    ${REASONS.map(
      (reason) =>
        html`<td data-cell=${reason}>
          ${
            ratio === null
              ? html`<span class="soft" title="with fewer than 5 calls there is no ratio">too few</span>`
              : percent(ratio[reason])
          }
          <${RatioBar} ratio=${ratio?.[reason]} reason=${reason} rules=${drawn(reason)} />
        </td>`,
    )}
  </tr>`
}
