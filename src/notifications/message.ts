import type { CalendarPeriod } from '../clock/calendar.ts'
import type { Shared } from '../alerts/fleet.ts'
import type { Incident } from '../alerts/incidents.ts'
import type { Alert } from '../alerts/alert.ts'
import type { Notification } from '../alerts/notification.ts'
import type { AlertMatch, Severity } from '../alerts/match-keys.ts'
import type { Report } from '../views/report.ts'
import type { CallLabels } from '../text/format.ts'
import type { Reason } from '../ledger/failure-ratio.ts'
import type { Kind } from './delivery/due.ts'
import type { AlertLinks, groupLinks } from './text/links.ts'

/** A message to a receiver. Times are UNIX seconds. */
export type Message = AlertMessage | ReportMessage | StoreMessage

/** What the text of a message depends on next to the message. */
export type TextOptions = {
  /** The host's clock (UNIX seconds). */
  now: number
}

/** What a message is about: a change of a group (delivery/due.ts), or only what it is now, or that it is sent here no longer. */
export type About = Kind | 'edit' | 'unrouted'

/** A message about a group of alerts. */
export type AlertMessage = {
  kind: 'alerts'
  /** A drawn id. */
  id: string
  about: About
  /** The message that began the incident: its id or, at a receiver that edits it, what it resolved to; undefined if this one begins it. */
  thread: string | undefined
  /** Of a receiver that edits: other messages that this incident continues, as after a reload. */
  merged?: readonly string[]
  /** Of an edit: the message in which the incident continues; absent: in the edited one. */
  continuesIn?: string
  /** Messages of the incident that got no answer, so that one may be its beginning: their ids, and when they were sent. */
  unanswered: readonly { id: string; at: number }[]
  /** Since when attempts to send this have failed (UNIX seconds). */
  failingSince?: number | undefined
  /** What they have in common, by `notify.group_by`. */
  group: AlertMatch
  /** What the route of its alerts matches; undefined without a route. */
  route: AlertMatch | undefined
  /** Their target; undefined if alerts of the group fire or ended on several targets. */
  target: string | undefined
  /** That of the incident, or else the highest of its alerts. */
  severity: Severity
  /** All that fires in the group now; undefined if nothing does. */
  incident: Incident | undefined
  /**
   * At the end of an incident on several targets: on how many it was, what these have in common, and when the first alert of it fired and the last
   * one ended (UNIX seconds).
   */
  whole?: { targets: number; shared: Shared | undefined; since: number; until: number } | undefined
  /** If nothing of the group fires any more: what else fires on its targets, of which the receiver is notified. */
  elsewhere: readonly Alert[]
  /** How many targets there are. */
  targets: number
  /** Where the page shows it; absent if the configuration does not say how users reach the page. */
  links?: ReturnType<typeof groupLinks>
  /** Each alert once, in its current state; firing alerts first, the worst of each kind first. */
  alerts: AlertUpdate[]
  /** What else of the group fires without being suppressed, as it was notified before. */
  unchanged: AlertUpdate[]
  /** Alerts that fired and resolved between deliveries. */
  flapped: FlappedAlert[]
  /** Firing alerts of the group that are silenced. */
  silenced: SilencedAlert[]
  /** Firing alerts that are not notified, because alerts of this message inhibit them. */
  inhibited: InhibitedAlert[]
}

export type AlertUpdate = {
  /** The latest change. If the alert still fires, with its current value. */
  notification: Notification
  /** How often the alert fired and resolved since its previous notification. */
  flaps: number
  /** Until when it was silenced, if that ended after the change and not long ago. */
  silencedUntil?: number | undefined
  /** Absent if the configuration does not say how users reach the page. */
  links?: AlertLinks
}

export type FlappedAlert = {
  /** The latest firing. */
  notification: Notification
  times: number
  /** The worst value of all the times it fired. */
  peak: number
  /** When it ended last. */
  endedAt: number
  /** Whether it expired then. */
  hasExpired?: true
  links?: AlertLinks
}

/** The key of an alert, and its target and severity. */
export type InhibitedAlert = { alert: string; target: string; severity: Severity }

export type SilencedAlert = { alert: string; target: string; until: number; reason: string; author?: string }

/** The numbers of a period. */
export type ReportMessage = {
  kind: 'report'
  report: Report
  /** How often it is sent; undefined for the first one, which is sent once. */
  every: CalendarPeriod | undefined
  /** The targets of the first one, which were set up. */
  setUp?: readonly string[]
  /** What is usual on them, by the rules with `above_usual`, those first whose share is largest. */
  usual?: readonly UsualShare[]
}

/** The usual share of the calls of an alert, which calls these are, what they do, and the threshold of the alert by it. */
export type UsualShare = {
  alert: string
  target: string
  of: CallLabels
  reason: Reason
  usual: number
  threshold: number
}

/** The store cannot be written, or can be written again. What receivers were told cannot be written either. */
export type StoreMessage = { kind: 'store'; state: 'failing' | 'recovered'; problem: string; since: number; at: number }
