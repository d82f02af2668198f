import type { LiveAlert } from '../../../alerts/alert.ts'
import { STALE_INTERVALS } from '../../../clock/intervals.ts'
import { readHttpDate } from '../../../clock/times.ts'
import type { Clock } from '../../../clock/clock.ts'
import { DeliveryError } from '../../../network/delivery-error.ts'
import { firstOf, httpSender } from '../../../network/http-sender.ts'
import { parseMap } from '../../../schema/path.ts'
import { alertmanagerAlert, type AlertmanagerAlert } from './alertmanager-alert.ts'
import type { Refresh, SendContext } from '../../receiver.ts'
import type { AlertmanagerConfig } from './alertmanager.ts'

/** An alert's identity: two alerts with the same key have the same labels in Alertmanager. */
export function alertKey({ target, instance: { key, rule } }: LiveAlert): string {
  return JSON.stringify([target, key, rule.severity])
}

/**
 * Posts these alerts to Alertmanager; rejects with a DeliveryError. Resolves to the answer's `Date` (UNIX seconds, whole; undefined if
 * it has none).
 */
type PostAlerts = (alerts: readonly AlertmanagerAlert[]) => Promise<number | undefined>

/** Longer reasons are cut (characters). */
const MAX_REASON_LENGTH = 300

/** How an Alertmanager is reached: its address without `/api/v2/alerts`, and the headers and the login that it wants. */
type Access = { url: string } & Partial<Pick<AlertmanagerConfig, 'headers' | 'username' | 'password'>>

/** Posts to an Alertmanager. */
export function alertmanagerPost({ url: address, clock, ...access }: Access & { clock: Clock }): PostAlerts {
  const url = `${address.replace(/\/+$/, '')}/api/v2/alerts`
  const deliver = httpSender({ receiver: 'Alertmanager', url, clock, reasonIn })
  const { username, password } = access
  const login = username && Buffer.from(`${username}:${password}`).toString('base64')
  const headers = { ...access.headers, ...(login !== undefined && { authorization: `Basic ${login}` }) }
  return async (alerts) => {
    let date: string | undefined
    const sent = { method: 'POST', headers, body: JSON.stringify(alerts) } as const
    await deliver(async (request) => (date = firstOf((await request(sent)).headers['date'])))
    return readHttpDate(date)
  }
}

/** Alertmanager explains a refusal in a JSON string, or in `message` if the form of the request is wrong. */
function reasonIn(body: string): string | undefined {
  try {
    const message = parseMap(body)?.['message'] ?? (JSON.parse(body) as unknown)
    return typeof message === 'string' ? message.slice(0, MAX_REASON_LENGTH) : undefined
  } catch {
    return undefined
  }
}

/** @property post sends the alerts; default: by HTTP */
type AlertmanagerOptions = Omit<SendContext, 'name'> & Access & { post?: PostAlerts }

/** Firing alerts are posted again after this long (seconds). */
const REFRESH_SECONDS = 60
/** Without a refresh, an alert resolves after this many polls, but not before this many seconds. */
const LIFETIME_POLLS = 4
const MIN_LIFETIME_SECONDS = 300

/** An alert that Alertmanager may know, and when it ended (monotonic seconds). */
type Posted = LiveAlert & { ended?: number }

/**
 * Posts firing alerts to Alertmanager: at once after a change, and again each minute. This is a state and not a message:
 * the latest accepted post is right. If callwatch dies, alerts resolve by their `endsAt`.
 *
 * Times are by Alertmanager's clock, as the `Date` of its answers shows it. If no recent answer shows it, or the host's
 * clock was set since, Alertmanager gets an empty list first, so that no alert is posted with a deadline that it takes for passed.
 * If the empty list is refused, the last known difference of the clocks counts (at first none) until the answer to alerts shows it.
 *
 * An ended alert is posted until a post at least a minute after its end was accepted. A `Date` has no milliseconds: if Alertmanager's
 * clock is some behind what callwatch assumes, an alert that ends now has not ended yet for Alertmanager, which keeps the later
 * `endsAt` of an earlier post until callwatch repeats the new one.
 */
export function alertmanagerRefresh(options: AlertmanagerOptions): Refresh {
  const { clock, pageUrl, post = alertmanagerPost(options) } = options
  const posted = new Map<string, Posted>()
  let refreshAt = 0
  let member: string | undefined
  const postAt = posterBySkew({ clock, post })

  return ({ alerts, interval, membership }) => {
    const started = clock.monotonic()
    // Another daemon may have posted since, and knows what ended.
    if (membership?.() !== member) posted.clear()
    member = membership?.()
    /** What fires now. Notes when others ended: also while nothing may be posted. */
    const look = () => {
      const fires = alerts().filter(({ instance }) => instance.state !== 'pending')
      const firing = new Map(fires.map((live) => [alertKey(live), live]))
      const ended = [...posted].filter(([key, one]) => one.ended === undefined && !firing.has(key))
      for (const [, one] of ended) one.ended = refreshAt = clock.monotonic()
      return firing
    }
    const firing = look()
    const isFiring = (key: string) => posted.has(key) && posted.get(key)!.ended === undefined
    if (!firing.keys().every(isFiring)) refreshAt = started
    if (posted.size + firing.size === 0 || started < refreshAt) return undefined
    return async () => {
      await postAt((skew) => {
        // Recorded before the answer: Alertmanager may have accepted a post whose answer was lost.
        for (const [key, live] of look()) posted.set(key, { ...live })
        const lifetime = Math.max(LIFETIME_POLLS * interval(), MIN_LIFETIME_SECONDS)
        const now = clock.wall() + skew
        const freshFrom = clock.wall() - STALE_INTERVALS * interval()
        return [...posted.values()].map(({ ended, ...live }) => {
          const endsAt = now + (ended === undefined ? lifetime : ended - clock.monotonic())
          return alertmanagerAlert(live, { now, endsAt, freshFrom }, pageUrl)
        })
      })
      refreshAt = started + REFRESH_SECONDS
      for (const [key, { ended = Infinity }] of posted) if (started - ended >= REFRESH_SECONDS) posted.delete(key)
    }
  }
}

/** If the host's clock moves by more than this against elapsed time (seconds), it was set, or the host was suspended. */
const MAX_STEP_SECONDS = 1

/** A `Date` that is further behind the host's clock (seconds) comes from a proxy that has no clock: it says 1970. */
const MAX_BEHIND_SECONDS = 86_400

/** An empty list may be refused, since it has no alert. Rethrows what also concerns alerts: no answer, or a request to wait. */
function onlyRefusals(error: unknown): void {
  if (!(error instanceof DeliveryError) || error.status === undefined || error.retryAfter !== undefined) throw error
}

/** Posts alerts that depend on how far Alertmanager's clock is ahead of the host's (seconds), as its answers show it. */
function posterBySkew({ clock, post }: { clock: Clock; post: PostAlerts }) {
  let known = { skew: 0, wall: 0, monotonic: -Infinity }

  async function postDated(alerts: readonly AlertmanagerAlert[]): Promise<void> {
    const sent = { wall: clock.wall(), monotonic: clock.monotonic() }
    const date = await post(alerts)
    const answered = clock.wall()
    const isShown = date !== undefined && date - answered >= -MAX_BEHIND_SECONDS
    // A `Date` leaves out the fraction. What agrees with it is kept, so that times do not change with each answer.
    const agrees = !isShown || (date <= answered + known.skew && sent.wall + known.skew < date + 1)
    known = { skew: agrees ? known.skew : date - answered, ...sent }
  }

  return async (alertsAt: (skew: number) => readonly AlertmanagerAlert[]): Promise<void> => {
    const elapsed = clock.monotonic() - known.monotonic
    const isOld = elapsed > 2 * REFRESH_SECONDS || Math.abs(clock.wall() - known.wall - elapsed) > MAX_STEP_SECONDS
    if (isOld) await postDated([]).catch(onlyRefusals)
    await postDated(alertsAt(known.skew))
  }
}
