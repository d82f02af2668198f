import type { LiveAlert } from '../alerts/alert-instance.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Silence } from '../alerts/silence.ts'
import { picks } from '../alerts/match.ts'
import type { OutboxEntry, Outgoing } from '../store/store.ts'
import { gather, outcomeOf, type GatherOptions, type Waiting } from './gather.ts'
import type { AlertMessage, DigestMessage, Message, ToldAlert } from './message.ts'

/** What a sender does next: deliver a message, if there is one, and take out what that settles. */
export type NextDelivery = { ids: number[]; message: Message | undefined }

export type NextDeliveryOptions = GatherOptions & {
  /** Whether a change is to wait, silenced, muted or held back. */
  isSuppressed: (told: Notification) => boolean
  /** Whether it waits because nobody wants to hear of it. */
  isUnwanted: (told: Notification) => boolean
  /** All alerts as they are now. */
  alerts: readonly LiveAlert[]
  silences: readonly Silence[]
}

/**
 * The next thing to do with what waits for a notifier, the oldest first: one message for each target and severity.
 *
 * @param entries the oldest first
 * @returns undefined where there is nothing to do now
 */
export function nextDelivery(entries: readonly OutboxEntry[], options: NextDeliveryOptions): NextDelivery | undefined {
  const latest = new Map(entries.map(({ content }) => [alertOf(content), content]))
  const groups = Map.groupBy(entries, ({ content }) => groupOf(latest.get(alertOf(content))!))
  for (const [name, group] of groups) {
    const next = name === 'digest' ? digestOf(group) : alertsOf(group, options)
    if (next !== undefined) return next
  }
  return undefined
}

function alertOf(content: Outgoing): string {
  return content.kind === 'digest' ? 'digest' : JSON.stringify([content.target, content.key])
}

/** All changes of an alert go with the latest: its rule's severity may have been edited in between. */
function groupOf(latest: Outgoing): string {
  return latest.kind === 'digest' ? 'digest' : JSON.stringify([latest.target, latest.severity])
}

/** Of several days' digests that wait, only the last is news. */
function digestOf(entries: readonly OutboxEntry[]): NextDelivery {
  const { content } = entries.at(-1)!
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- put out by daily-digest.ts only
  const message = content.kind === 'digest' ? (content.digest as DigestMessage) : undefined
  return { ids: entries.map(({ id }) => id), message }
}

function alertsOf(entries: readonly OutboxEntry[], options: NextDeliveryOptions): NextDelivery | undefined {
  const waiting = waitingOf(entries)
  const isHeld = ({ changes }: Waiting) => options.isSuppressed(changes.at(-1)!)
  // What came and went while nobody wanted to hear of it is not told of afterwards.
  const over = waiting.filter(
    (each) => options.isUnwanted(each.changes.at(-1)!) && outcomeOf(each, options).kind !== 'told',
  )
  if (over.length > 0) return { ids: over.flatMap((each) => each.entries.map(({ id }) => id)), message: undefined }
  const gathered = gather(
    waiting.filter((each) => !isHeld(each)),
    options,
  )
  if (gathered?.message === undefined) return gathered && { ...gathered, message: undefined }
  const { target, severity } = waiting[0]!.changes.at(-1)!
  const alerts = gathered.message.alerts.map((told) => asOfNow(told, options.alerts))
  const silenced = silencedBeside(target, severity, options)
  return { ids: gathered.ids, message: { kind: 'alerts', target, severity, ...gathered.message, alerts, silenced } }
}

/** The entries of each alert together. */
function waitingOf(entries: readonly OutboxEntry[]): Waiting[] {
  const waiting = new Map<string, Waiting>()
  for (const entry of entries) {
    const { content } = entry
    if (content.kind === 'digest') continue
    const known = waiting.get(content.key) ?? { entries: [], changes: [] }
    known.entries.push(entry)
    known.changes.push(content)
    waiting.set(content.key, known)
  }
  return [...waiting.values()]
}

/** One that still fires is told with its value as it is now. */
function asOfNow(told: ToldAlert, alerts: readonly LiveAlert[]): ToldAlert {
  const { notification } = told
  const { target, key, kind } = notification
  if (kind !== 'firing' && kind !== 'reminder') return told
  const live = alerts.find((alert) => alert.target === target && alert.instance.key === key)
  if (live === undefined || live.instance.state === 'pending') return told
  const { value, peak, calls, counts } = live.instance
  const latest = { value, peak, ...(calls === undefined ? {} : { calls }), ...(counts === undefined ? {} : { counts }) }
  return { ...told, notification: { ...notification, ...latest } }
}

/** Alerts of the same target and severity that fire and that somebody has silenced. */
function silencedBeside(
  target: string,
  severity: AlertMessage['severity'],
  { alerts, silences }: NextDeliveryOptions,
): AlertMessage['silenced'] {
  return alerts.flatMap((live) => {
    const { key, labels, rule, state } = live.instance
    if (live.target !== target || rule.severity !== severity || state === 'pending') return []
    const told = { alert: rule.name, severity, target, labels, match: rule.match }
    const silence = silences.find(({ match }) => picks(match, told))
    return silence === undefined ? [] : { alert: key, until: silence.until, reason: silence.reason }
  })
}
