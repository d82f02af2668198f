import { html } from '../html.js'
import { count, duration, labelText, percent } from '../model/format.js'
import { judgedRatios } from '../model/totals.js'
import { RatioBar } from './ratio-bar.js'
import { Wide } from './wide.js'

/** @import { Target } from '../model/api.js' */
/** @import { JudgedRatio } from '../model/totals.js' */

/**
 * The failure ratios as the rules judge them, against their thresholds.
 *
 * @param {{ targets: Target[] }} props
 */
export function JudgedRatios({ targets }) {
  const ratios = judgedRatios(targets)
  if (ratios.length === 0) return undefined
  return html`<h3>As the rules judge it</h3>
    <${Wide} label="Failure ratio by rule">
      <table class="numbers">
        <caption class="announced">
          Failure ratio by rule, against its threshold
        </caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col"><abbr title="finished calls that it judges">n</abbr></th>
            <th scope="col">ratio</th>
            <th scope="col">threshold</th>
          </tr>
        </thead>
        <tbody>
          ${ratios.map((ratio) => row(ratio, targets.length > 1))}
        </tbody>
      </table>
    <//>`
}

/**
 * @param {JudgedRatio} ratio
 * @param {boolean} isOneOfSeveral whether there is more than one target
 */
function row({ target, rule, reading }, isOneOfSeveral) {
  const { name, severity, reason = 'any', breach, threshold, clear, window_seconds = 0, match, min_calls = 0 } = rule
  const { labels, value, calls } = reading
  const whose = labelText({ ...match, ...labels })
  const about = [
    ...(isOneOfSeveral ? [target] : []),
    reason,
    duration(window_seconds),
    ...(whose === '' ? [] : [whose]),
    `n ≥ ${count(min_calls)}`,
  ]
  const isPast = value !== null && (breach === 'above' ? value > threshold : value < threshold)
  return html`<tr key=${[target, name, whose].join('|')} data-judged=${`${target} ${name}`}>
    <th scope="row">${name} <span class="soft">${about.join(', ')}</span></th>
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
