import type { LiveAlert } from '../alerts/alert-instance.ts'
import { picks, type AlertMatch } from '../alerts/match.ts'
import type { Notification } from '../alerts/notification.ts'
import type { Silence } from '../alerts/silence.ts'
import { lastTime } from '../clock/calendar.ts'

/** A time in which some alerts are not told of, again and again. */
export type Mute = {
  /** When it begins: five cron fields. */
  start: string
  /** Seconds. */
  duration: number
  timezone: string
  match: AlertMatch
}

export type SuppressionOptions = {
  mutes: readonly Mute[]
  /** Those that have not ended. */
  silences: readonly Silence[]
  alerts: readonly LiveAlert[]
  /** The host's clock (UNIX seconds). */
  now: number
}

/**
 * Says of a change whether it is to wait: while a mute or a silence picks its alert, and, of all but `poll_age` itself,
 * while its target cannot be polled. Evaluation goes on meanwhile; what still holds afterwards is told then.
 */
export function suppressionAt({ alerts, ...options }: SuppressionOptions): (told: Notification) => boolean {
  const isUnwanted = unwantedAt(options)
  const unpolled = new Set(alerts.filter(isUnpolled).map(({ target }) => target))
  return (told) => (told.signal.name !== 'poll_age' && unpolled.has(told.target)) || isUnwanted(told)
}

/** Says of a change whether somebody does not want to hear of it now: by a mute or a silence. */
export function unwantedAt({
  mutes,
  silences,
  now,
}: Omit<SuppressionOptions, 'alerts'>): (told: Notification) => boolean {
  const matches = [...mutes.filter((mute) => isMuted(mute, now)), ...silences].map(({ match }) => match)
  return (told) => matches.some((match) => picks(match, told))
}

function isMuted({ start, timezone, duration }: Mute, now: number): boolean {
  const began = lastTime(start, timezone, now)
  return began !== undefined && now < began + duration
}

function isUnpolled({ instance }: LiveAlert): boolean {
  return instance.rule.signal.name === 'poll_age' && instance.state !== 'pending'
}
