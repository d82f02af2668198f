import { Document, isScalar, Scalar, stringify, visit } from 'yaml'
import { NoCounterpart, prometheusDuration, prometheusRule } from '../alerts/prometheus-rule.ts'
import type { Rule } from '../alerts/rule.ts'
import type { Config } from '../config/config.ts'

/** Prints the configured rules as a Prometheus rule file. */
export function prometheusRules({ alerts, poll }: Config, print: (line: string) => void): void {
  print(ruleFileOf(alerts, poll.interval).trimEnd())
}

/**
 * A rule file for Prometheus that says what these rules say, as far as PromQL can; what it cannot is a comment in it.
 *
 * @param interval seconds between two polls
 */
export function ruleFileOf(rules: readonly Rule[], interval: number): string {
  const missing: string[] = []
  const translated = rules.flatMap((rule) => {
    try {
      return [asYaml(prometheusRule(rule, interval))]
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error
      missing.push(`# ${rule.name} has no counterpart here: ${error.message}`)
      return []
    }
  })
  const document = new Document({ groups: [{ name: 'callwatch', rules: translated }] })
  visit(document, {
    // Expressions of several lines stand as they are.
    Scalar: (_key, node) => {
      if (isScalar(node) && typeof node.value === 'string' && node.value.includes('\n'))
        node.type = Scalar.BLOCK_LITERAL
    },
  })
  return [...HEAD, ...missing, stringify(document, { lineWidth: 0 })].join('\n')
}

const HEAD = [
  "# callwatch's alert rules for Prometheus (2.42 or later), made by `callwatch prometheus-rules`.",
  '# They go by raw counters and timestamps alone, and need no alerting by callwatch itself.',
]

function asYaml({ alert, expr, labels, annotations, ...rule }: ReturnType<typeof prometheusRule>): object {
  return {
    alert,
    expr,
    ...(rule.for === 0 ? {} : { for: prometheusDuration(rule.for) }),
    ...(rule.keepFiringFor === 0 ? {} : { keep_firing_for: prometheusDuration(rule.keepFiringFor) }),
    labels,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}
