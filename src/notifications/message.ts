import type { FinishedCounts } from '../ledger/finished-calls.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Severity } from '../alerts/match-keys.ts'
import type { AlertLinks } from './text/links.ts'

/** What is sent to a receiver at once. Times are UNIX seconds. */
export type Message = AlertMessage | DigestMessage | StoreMessage

/** What the text of a message depends on beside the message. */
export type TextOptions = {
  /** The host's clock (UNIX seconds). */
  now: number
  dashboardUrl: string | undefined
}

/** What changed of a target's alerts of one severity. */
export type AlertMessage = {
  kind: 'alerts'
  target: string
  severity: Severity
  /** Each alert once, as it is now; firing ones first. */
  alerts: AlertUpdate[]
  /** Alerts that fired and resolved between deliveries. */
  flapped: FlappedAlert[]
  /** Alerts of this target that fire and are silenced. */
  silenced: SilencedAlert[]
  /** Alerts that fire and are not notified, because alerts of this message inhibit them. */
  inhibited: InhibitedAlert[]
}

export type AlertUpdate = {
  /** The latest change, with the value as it is now where it still fires. */
  notification: Notification
  /** How often it fired and resolved between this notification and the one before. */
  flaps: number
  /** Where the configuration says how users reach the page. */
  links?: AlertLinks
}

export type FlappedAlert = {
  /** Its latest firing. */
  notification: Notification
  times: number
  /** The worst value of all times. */
  peak: number
  /** When the latest ended. */
  endedAt: number
}

/** The key of an alert, and its target and severity. */
export type InhibitedAlert = { alert: string; target: string; severity: Severity }

export type SilencedAlert = { alert: string; until: number; reason: string }

/** How a day went, target by target, against the same weekday before. */
export type DigestMessage = {
  kind: 'digest'
  /** `2026-11-19` */
  day: string
  timezone: string
  targets: { target: string; day: DayFigures; weekBefore: DayFigures | undefined }[]
}

/** A day of a target: how its calls ended, the participant minutes counted, and how much of it is not covered (history/coverage.ts). */
export type DayFigures = { counts: FinishedCounts; minutes: number; blindSeconds: number }

/** The store cannot be written, or can again: sent without the outbox, which is in the store. */
export type StoreMessage = { kind: 'store'; state: 'failing' | 'recovered'; problem: string; since: number; at: number }
