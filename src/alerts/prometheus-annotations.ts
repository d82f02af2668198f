import { recordOf, seriesOf } from './prometheus-record.ts'
import { RULE_LABELS, windowOf, type Rule } from './rule.ts'

/** A rule's words as Prometheus's templates: what they say there is what callwatch's own messages say. */
export function annotationsOf(rule: Rule): Record<string, string> {
  const { description, runbookUrl } = rule
  return {
    ...(description === undefined ? {} : { description: templateOf(description.toWellFormed(), rule) }),
    ...(runbookUrl === undefined ? {} : { runbook_url: literal(runbookUrl.toWellFormed()) }),
  }
}

/** Seconds as Prometheus writes them, in the largest unit that needs no fraction: 900 is `15m`. */
export function prometheusDuration(seconds: number): string {
  const units = { d: 86_400, h: 3600, m: 60, s: 1 }
  const [unit, size] = Object.entries(units).find((each) => seconds >= each[1] && seconds % each[1] === 0) ?? [
    'ms',
    0.001,
  ]
  return `${Math.round(seconds / size)}${unit}`
}

/** Stands where a signal has no such thing, as in callwatch's own messages. */
const NOTHING = 'n/a'

function templateOf(description: string, rule: Rule): string {
  const { signal } = rule
  const window = windowOf(signal) ?? (signal.name === 'stuck_calls' ? signal.longerThan : undefined)
  const fillings: Record<string, string> = {
    value: valueOf(rule),
    threshold: thresholdOf(rule),
    calls: callsOf(rule),
    window: window === undefined ? NOTHING : prometheusDuration(window),
    labels: labelsOf(rule),
  }
  // Every second part is the name of a placeholder.
  const parts = description.split(/\{(value|threshold|calls|window|labels)\}/)
  return parts.map((part, i) => (i % 2 === 0 ? literal(part) : fillings[part])).join('')
}

/** Two braces would begin an action, and one would together with the action that follows it. */
function literal(text: string): string {
  return text.replaceAll(/\{+/g, (braces) => `{{ "${braces}" }}`)
}

function valueOf({ signal }: Rule): string {
  if (signal.name === 'failure_ratio') return '{{ $value | humanizePercentage }}'
  // Of calls that are stuck Prometheus knows for how long the oldest has been, and not how many they are.
  if (signal.name === 'poll_age' || signal.name === 'stuck_calls') return '{{ $value | humanizeDuration }}'
  return `${WHOLE_VALUE} {{ if eq (printf "%.0f" $value) "1" }}call{{ else }}calls{{ end }}`
}

/** An increase over a window is extrapolated, and calls are whole. */
const WHOLE_VALUE = '{{ printf "%.0f" $value }}'

function thresholdOf({ signal, threshold }: Rule): string {
  if (signal.name === 'failure_ratio') return `${Number((threshold * 100).toPrecision(6))} %`
  if (signal.name === 'poll_age') return prometheusDuration(threshold)
  return `${threshold} ${threshold === 1 ? 'call' : 'calls'}`
}

/** How many calls are behind the value; of a ratio Prometheus has to be asked once more. */
function callsOf(rule: Rule): string {
  const { signal, by } = rule
  if (signal.name === 'poll_age' || signal.name === 'stuck_calls') return NOTHING
  if (signal.name !== 'failure_ratio') return WHOLE_VALUE
  const own = ['target', ...by]
  const series = seriesOf(
    recordOf('callwatch_calls_total', rule),
    own.map((label) => `${label}=%q`),
  )
  const query = `sum(increase(${series}[${prometheusDuration(signal.window)}]))`
  const values = own.map((label) => `$labels.${label}`).join(' ')
  return `{{ with query (printf \`${query}\` ${values}) }}{{ printf "%.0f" (. | first | value) }}{{ else }}${NOTHING}{{ end }}`
}

/** Which calls the alert is about: `type={{ $labels.type }}, mode=call`; where it is about all, its target. */
function labelsOf({ match, by }: Rule): string {
  const labels = RULE_LABELS.flatMap((label) => {
    if (by.includes(label)) return [`${label}={{ $labels.${label} }}`]
    return match[label] === undefined ? [] : [`${label}=${match[label]}`]
  })
  return labels.join(', ') || 'target={{ $labels.target }}'
}
