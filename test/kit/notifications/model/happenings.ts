/** What happens in a history. Targets are numbers, receivers `r0` and `r1`, and `bot` edits its messages. */
export type Happening =
  | { do: 'fire' | 'end'; target: number; rule: RuleName }
  /** Polls of a target have failed for so long that an alert on that is pending. */
  | { do: 'pend'; target: number }
  | { do: 'silence'; target?: number | undefined; rule?: RuleName | undefined; until: number }
  | { do: 'answer'; receiver: string; mode: Mode }
  /** The receiver answers messages on a subject with 500; undefined: none. */
  | { do: 'refuse'; receiver: string; subject: string | undefined }
  | { do: 'crash'; point: 'now' | 'before send' | 'after send' }
  | { do: 'reload'; change: Partial<Config> }
  | { do: 'remove' | 'add'; receiver: string }

/** A history: what happens in each second, before anything is delivered in the next one. */
export type History = readonly (readonly [second: number, happening: Happening])[]

/** `AW` and `AC` measure the same, one is a warning and the other critical; `OUT` is an outage of its target. */
export type RuleName = 'AW' | 'AC' | 'B' | 'B2' | 'OUT'
export type Severity = 'warning' | 'critical'

/**
 * How a receiver answers: it accepts; or accepts, and the answer is lost; or neither request nor answer arrives; or it hangs; or it cannot
 * be reached.
 */
export type Mode = 'ok' | 'lost' | 'lostgone' | 'hang' | 'down'

/** What a reload may change. Times are seconds. */
export type Config = {
  /** Which routes there are (routes.ts). */
  variant: 0 | 1 | 2 | 3
  by: 'rule' | 'target'
  sevB: Severity
  nameB: 'B' | 'B2'
  wait: number
  interval: number
  repeat: number
  targets: number
}

export const CONFIG: Config = {
  variant: 0,
  by: 'rule',
  sevB: 'warning',
  nameB: 'B',
  wait: 20,
  interval: 120,
  repeat: 900,
  targets: 3,
}

/** What a rule measures. One that was renamed measures the same. */
export function subjectOf(rule: RuleName) {
  if (rule === 'AW' || rule === 'AC') return 'A'
  return rule === 'B2' ? 'B' : rule
}

export function severityOf(rule: RuleName, { sevB }: Config): Severity {
  if (rule === 'AW') return 'warning'
  return rule === 'AC' || rule === 'OUT' ? 'critical' : sevB
}

/** What names the route of an alert, and its receivers; null: all. */
export function routeOf(
  { target, rule, severity }: { target: number; rule: RuleName; severity?: Severity },
  config: Config,
): [route: string | null, receivers: readonly string[] | null] {
  if (config.variant === 1)
    return (severity ?? severityOf(rule, config)) === 'critical' ? ['critical', ['r1', 'bot']] : ['rest', ['r0', 'bot']]
  if (config.variant === 2) return [target === 0 ? 't0' : 'rest', null]
  return config.variant === 3 ? ['rest', ['r0']] : [null, null]
}
