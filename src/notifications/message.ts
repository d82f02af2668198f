import type { Past } from '../history/past.ts'
import type { Figures } from '../history/sums.ts'
import type { Incident } from '../alerts/incidents.ts'
import type { Notification } from '../alerts/notification.ts'
import type { AlertMatch, Severity } from '../alerts/match-keys.ts'
import type { AlertLinks, groupLinks } from './text/links.ts'

/** A message to a receiver. Times are UNIX seconds. */
export type Message = AlertMessage | DigestMessage | PastMessage | StoreMessage

/** What the text of a message depends on next to the message. */
export type TextOptions = {
  /** The host's clock (UNIX seconds). */
  now: number
  dashboardUrl: string | undefined
}

/** Changes of a group's alerts. */
export type AlertMessage = {
  kind: 'alerts'
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
  /** When the first change was made that the receiver was told of it (UNIX seconds). */
  begun: number
  /** On how many targets it was at most, by the messages before. */
  most?: number | undefined
  /** What identifies the message of the incident at a receiver that edits it; absent if it has none yet. */
  posted?: string | undefined
  /** Whether an attempt whose answer was lost may have posted it. */
  mayBePosted?: boolean
  /** Whether the incident is more severe than the receiver was told. */
  isWorse?: boolean
  /** Whether it only shows the incident as it is now, and tells nothing. */
  isEdit?: boolean
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
  /** Since when nothing suppresses it, if it waited (the host's clock, UNIX seconds). */
  freeSince?: number | undefined
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

/** A day, target by target, compared with the same weekday of the week before. */
export type DigestMessage = {
  kind: 'digest'
  /** `2026-11-19` */
  day: string
  timezone: string
  targets: { target: string; day: DayFigures; weekBefore: DayFigures | undefined }[]
}

/** A day of a target, and how much of it is not covered (history/coverage.ts). */
export type DayFigures = Figures & { blindSeconds: number }

/** What happened before some targets were set up. It is sent once, when their lists were read. */
export type PastMessage = Past & {
  kind: 'past'
  timezone: string
  /** What raises alerts from now on. */
  rules: readonly string[]
}

/** The store cannot be written, or can be written again. Sent without the outbox, which is in the store. */
export type StoreMessage = { kind: 'store'; state: 'failing' | 'recovered'; problem: string; since: number; at: number }
