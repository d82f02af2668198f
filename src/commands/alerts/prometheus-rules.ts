import { Document, isScalar, Scalar, stringify, visit } from 'yaml'
import { prometheusRule, type PrometheusRule, ownRules } from '../../alerts/prometheus-rule.ts'
import { NotExpressible } from '../../alerts/promql.ts'
import type { Rule } from '../../alerts/rule.ts'
import { formatDuration } from '../../schema/duration-text.ts'
import type { Declare } from '../command.ts'
import { url } from '../options/option-values.ts'

/** Prints the configured rules as a Prometheus rule file. */
export const declare: Declare = (command, { configured, print }) =>
  void command
    .option(
      '--runbooks <url>',
      'where the runbooks are to which the shipped alerts link, such as https://callwatch.example/runbooks (default: below http.public_url)',
      url,
    )
    .action(async ({ runbooks, ...options }) => {
      const { alerts, poll, store, http } = await configured(options)
      const pages = runbooks ?? (http.publicUrl && `${http.publicUrl}/runbooks`)
      print(ruleFileOf(alerts, poll.interval, 'lease' in store ? store.lease : undefined, pages).trimEnd())
    })

/**
 * A Prometheus rule file for these rules, equivalent to them where PromQL can express them. A comment names each rule that
 * it cannot express.
 *
 * @param interval between two polls (seconds)
 * @param lease of daemons that share a store (seconds)
 * @param runbooks the address of the runbooks of the shipped alerts
 */
export function ruleFileOf(rules: readonly Rule[], interval: number, lease?: number, runbooks?: string): string {
  const missing: string[] = []
  const translated = rules.flatMap((rule) => {
    try {
      return [prometheusRule(rule, interval, runbooks)]
    } catch (error) {
      if (!(error instanceof NotExpressible)) throw error
      missing.push(`# ${JSON.stringify(rule.name)} has no counterpart here: ${error.message}`)
      return []
    }
  })
  // Prometheus evaluates the rules of a group in order, so alerts use values that were recorded just before.
  const records = new Map(translated.flatMap((rule) => rule.records.map((record) => [record.expr, record])))
  const all = [...records.values(), ...translated.map(asYaml), ...ownRules(lease, runbooks).map(asYaml)]
  // Prometheus reads YAML 1.1, in which more words are not strings than in YAML 1.2.
  const document = new Document({ groups: [{ name: 'callwatch', rules: all }] }, { compat: 'yaml-1.1' })
  visit(document, {
    Pair: (_key, { key, value }) => {
      if (!isScalar(value) || typeof value.value !== 'string') return
      if (UNSAFE.test(value.value)) value.type = Scalar.QUOTE_DOUBLE
      else if (value.value.includes('\n')) {
        // Keeps expressions of several lines readable.
        value.type = isScalar(key) && key.value === 'expr' ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE
      }
    },
  })
  const body = stringify(document, { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity })
  // Now such characters are in quoted strings only.
  return [...HEAD, ...missing, body].join('\n').replaceAll(new RegExp(UNSAFE, 'gu'), escapeOf)
}

/** Characters that Prometheus's YAML parser reads as a line break, or refuses even in quotes. */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\u{FEFF}\u{FFFE}\u{FFFF}]/u

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

const HEAD = [
  "# callwatch's alert rules for Prometheus (2.42 or later), printed by `callwatch prometheus-rules`.",
  '# They use only counters and timestamps, and work without the alerting of callwatch. Each count is recorded first:',
  '# one series of each target, which continues after a failover to another daemon. With `--runbooks URL` the alerts',
  '# link to their runbooks, which callwatch serves at /runbooks.',
]

function asYaml({ alert, expr, labels, annotations, ...rule }: PrometheusRule): object {
  return {
    alert,
    expr,
    ...(rule.for === 0 ? {} : { for: formatDuration(rule.for) }),
    ...(rule.keepFiringFor === 0 ? {} : { keep_firing_for: formatDuration(rule.keepFiringFor) }),
    labels,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}
