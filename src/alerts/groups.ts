import { MODES, RECEIVER_TYPES, TYPES, type Labels } from '../ledger/call.ts'

/** The labels of calls that rules can match and group by, named as on the metrics. */
export const RULE_LABELS = ['type', 'mode', 'receiver_type'] as const
export type RuleLabel = (typeof RULE_LABELS)[number]
/** Values of labels, such as `{ mode: 'call' }`. */
export type RuleLabels = Readonly<Partial<Record<RuleLabel, string>>>

/** Which calls a rule selects, and the labels by which it groups them. */
type Grouping = { readonly match: RuleLabels; readonly by: readonly RuleLabel[] }

const VALUES: Record<RuleLabel, readonly string[]> = { type: TYPES, mode: MODES, receiver_type: RECEIVER_TYPES }

/** A label of a call, named as on the metrics. */
export function labelValue({ type, mode, receiverType }: Labels, label: RuleLabel): string {
  return { type, mode, receiver_type: receiverType }[label]
}

/** Whether a rule selects calls with these labels. */
export function isMatched({ match }: Pick<Grouping, 'match'>, labels: Labels): boolean {
  return RULE_LABELS.every((label) => match[label] === undefined || match[label] === labelValue(labels, label))
}

/** Identifies an alert within its target: the rule's name and the labels of its group. Never changes. */
export function instanceKey(name: string, labels: RuleLabels): string {
  const given = RULE_LABELS.filter((label) => labels[label] !== undefined)
  if (given.length === 0) return name
  return `${name}{${given.map((label) => `${label}="${labels[label]}"`).join(', ')}}`
}

/** The groups that a rule always has, even without calls: one for each combination of documented values. */
export function documentedGroups({ by, match }: Grouping): RuleLabels[] {
  const documented = (label: RuleLabel) =>
    match[label] === undefined ? VALUES[label].filter((value) => value !== 'other') : [match[label]]
  return by.reduce<RuleLabels[]>(
    (groups, label) => groups.flatMap((group) => documented(label).map((value) => ({ ...group, [label]: value }))),
    [{}],
  )
}

/** Whether a rule, as it is now, could have a group with these labels. */
export function isGroupOf({ by, match }: Grouping, labels: RuleLabels): boolean {
  return RULE_LABELS.every((label) => {
    const value = labels[label]
    if (!by.includes(label)) return value === undefined
    return value !== undefined && (match[label] ?? value) === value && VALUES[label].includes(value)
  })
}

/** Whether an alert is one of this rule, as the rule is now. */
export function isOf(
  rule: Grouping & { readonly name: string },
  alert: { readonly rule: { readonly name: string }; readonly labels: RuleLabels },
): boolean {
  return alert.rule.name === rule.name && isGroupOf(rule, alert.labels)
}

/** The calls that a rule selects, by the key of their group. Groups in `known` are included even without a call. */
export function groupCalls<Call extends { readonly labels: Labels }>(
  rule: Grouping & { readonly name: string },
  calls: Iterable<Call>,
  known: readonly RuleLabels[] = [],
): Map<string, { labels: RuleLabels; calls: Call[] }> {
  const groups = new Map<string, { labels: RuleLabels; calls: Call[] }>()
  for (const labels of [...documentedGroups(rule), ...known])
    groups.set(instanceKey(rule.name, labels), { labels, calls: [] })
  for (const call of calls) {
    if (!isMatched(rule, call.labels)) continue
    const labels = Object.fromEntries(rule.by.map((label) => [label, labelValue(call.labels, label)]))
    const key = instanceKey(rule.name, labels)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { labels, calls: [call] })
    else group.calls.push(call)
  }
  return groups
}
