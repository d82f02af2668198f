import { html } from '../html.js'

/** @import { Rule } from '../model/api.js' */

/**
 * A ratio from 0 to 100 %, with the thresholds of rules drawn into it; the number beside it says the same.
 *
 * @param {{ ratio: number | null | undefined, reason: string, rules: Rule[] }} props
 */
export function RatioBar({ ratio, reason, rules }) {
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
