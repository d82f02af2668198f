import { Document, isScalar, Scalar, stringify, visit } from 'yaml'
import { prometheusDuration } from '../alerts/prometheus-annotations.ts'
import { NoCounterpart, prometheusRule, unownedTargets, type PrometheusRule } from '../alerts/prometheus-rule.ts'
import type { Rule } from '../alerts/rule.ts'
import type { Config } from '../config/config.ts'

/** Prints the configured rules as a Prometheus rule file. */
export function prometheusRules({ alerts, poll, store }: Config, print: (line: string) => void): void {
  print(ruleFileOf(alerts, poll.interval, 'lease' in store ? store.lease : undefined).trimEnd())
}

/**
 * A rule file for Prometheus that says what these rules say, as far as PromQL can; what it cannot is a comment in it.
 *
 * @param interval seconds between two polls
 * @param lease of daemons that share a store (seconds)
 */
export function ruleFileOf(rules: readonly Rule[], interval: number, lease?: number): string {
  const missing: string[] = []
  const translated = rules.flatMap((rule) => {
    try {
      return [prometheusRule(rule, interval)]
    } catch (error) {
      if (!(error instanceof NoCounterpart)) throw error
      missing.push(`# ${JSON.stringify(rule.name)} has no counterpart here: ${error.message}`)
      return []
    }
  })
  // Rules of one group are evaluated one after the other: alerts go by what was recorded just before.
  const records = new Map(translated.flatMap((rule) => rule.records.map((record) => [record.expr, record])))
  const all = [...records.values(), ...translated.map(asYaml), asYaml(unownedTargets(lease))]
  // Prometheus reads YAML 1.1, in which more words than in 1.2 are no texts.
  const document = new Document({ groups: [{ name: 'callwatch', rules: all }] }, { compat: 'yaml-1.1' })
  visit(document, {
    Pair: (_key, { key, value }) => {
      if (!isScalar(value) || typeof value.value !== 'string') return
      if (UNSAFE.test(value.value)) value.type = Scalar.QUOTE_DOUBLE
      else if (value.value.includes('\n')) {
        // Expressions of several lines stand as they are.
        value.type = isScalar(key) && key.value === 'expr' ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE
      }
    },
  })
  const body = stringify(document, { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity })
  // By now such characters stand between quotes only.
  return [...HEAD, ...missing, body].join('\n').replaceAll(new RegExp(UNSAFE, 'gu'), escapeOf)
}

/** What Prometheus's YAML takes for a line break or refuses, even between quotes. */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\u{FEFF}\u{FFFE}\u{FFFF}]/u

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const HEAD = [
  "# callwatch's alert rules for Prometheus (2.42 or later), made by `callwatch prometheus-rules`.",
  '# They go by counters and timestamps alone, and need no alerting by callwatch itself. What they count is recorded first:',
  '# one series of each target, which goes on where it was when another daemon takes the target over.',
]

function asYaml({ alert, expr, labels, annotations, ...rule }: PrometheusRule): object {
  return {
    alert,
    expr,
    ...(rule.for === 0 ? {} : { for: prometheusDuration(rule.for) }),
    ...(rule.keepFiringFor === 0 ? {} : { keep_firing_for: prometheusDuration(rule.keepFiringFor) }),
    labels,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}
