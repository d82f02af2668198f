import { defer, exhaustMap, filter, map, ReplaySubject, share, takeUntil, timer, type Observable } from 'rxjs'
import { webhookViews, type WebhookView } from '../events/webhooks/webhook-views.ts'
import type { Clock } from '../clock/clock.ts'
import { isoTime } from '../clock/iso-time.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import type { WebOptions } from './server.ts'
import { alertView, type AlertView } from './api/alerts.ts'
import { receiverViews, type ReceiverView } from './api/deliveries.ts'
import { finishedPerMinute, type FinishedPerMinute } from './api/finished-per-minute.ts'
import { otherTargetJson } from './api/overview.ts'
import { silenceView, type SilenceView } from './api/silences.ts'
import { targetJson, type TargetView } from './api/target-view.ts'

/** The data of a `state` event: at first all of it, then what has changed. */
export type StateChange = {
  version: string
  now: string
  /** Why this daemon can own no target. */
  problem?: string
  /** All targets, in their order. */
  names?: string[]
  targets: { target: TargetView; alerts: AlertView[] }[]
  minutes: FinishedPerMinute['targets']
  /** When the first of the minutes begins. */
  since?: string
  silences?: SilenceView[]
  read_only?: boolean
  webhooks?: WebhookView[]
  receivers?: ReceiverView[]
}

/** A part of the state as JSON: an entry of a list, or a field. It is sent again when its sign changes. */
type Part = { list?: 'targets' | 'minutes'; text: string; sign: string }
type Parts = ReadonlyMap<string, Part>

/** The state, and how it was read (ISO 8601). */
export type LiveState = { head: string; parts: Parts }

const TICK_MS = 1000
/** How often the finished calls of each minute are read: what shows them is drawn again then. */
const MINUTES_MS = 5000
/** Without a change, a client is told this often that the connection works. */
const QUIET_SECONDS = 10
/** As long the expired silences are part of the state. */
const SILENCES_SECONDS = 7 * 86_400
/** What changes as time passes, without news. */
const AGES = /"(?:lag_seconds|sweep_age_seconds|rate_limit_pause_seconds|requests_last_minute)":[^,}]*/g

/** The state of all targets, read each second for all clients together, while there are any. */
export function liveState(options: WebOptions, scheduler: Clock['scheduler']): Observable<LiveState> {
  let parts: Parts = new Map()
  let minutes: FinishedPerMinute | undefined
  let readAt = -Infinity
  const read = async () => {
    if (minutes === undefined || scheduler.now() - readAt >= MINUTES_MS) {
      minutes = await finishedPerMinute(options)
      readAt = scheduler.now()
    }
    return readParts(options, parts, minutes)
  }
  return timer(0, TICK_MS, scheduler).pipe(
    exhaustMap(() => read().catch(onlyStoreErrors(undefined))),
    filter((latest) => latest !== undefined),
    map((latest) => {
      parts = latest
      const head = { version: options.version, now: isoTime(options.wall()), problem: options.problem() }
      return { head: JSON.stringify(head).slice(1, -1), parts }
    }),
    share({ connector: () => new ReplaySubject<LiveState>(1) }),
  )
}

/** What a client of a stream does not have yet of the state. */
export function stateReader(state$: Observable<LiveState>, aborted$: Observable<void>, scheduler: Clock['scheduler']) {
  const sent = new Map<string, string>()
  let latest: LiveState | undefined
  let at = -Infinity
  state$.pipe(takeUntil(aborted$)).subscribe((state) => (latest = state))
  return {
    /** The text of an event; '' without a change, unless the client must hear that the connection works. */
    changes: () => {
      const { head, parts } = latest ?? { head: '', parts: new Map() }
      const changed = [...parts].filter(([name, { sign }]) => sent.get(name) !== sign)
      const isQuiet = scheduler.now() - at < QUIET_SECONDS * 1000
      if (latest === undefined || (changed.length === 0 && isQuiet)) return ''
      at = scheduler.now()
      for (const [name, { sign }] of changed) sent.set(name, sign)
      const texts = (list?: Part['list']) =>
        changed.flatMap(([, part]) => (part.list === list ? part.text : [])).join(',')
      const fields = texts()
      const lists = `"targets":[${texts('targets')}],"minutes":[${texts('minutes')}]`
      return `event: state\ndata: {${head},${lists}${fields && `,${fields}`}}\n\n`
    },
    /** Emits false when there is another state. */
    other$: defer(() => {
      const before = latest
      return state$.pipe(
        filter((state) => state !== before),
        map(() => false),
      )
    }),
  }
}

/** What the store cannot say now stays as it was. */
async function readParts(options: WebOptions, before: Parts, perMinute: FinishedPerMinute): Promise<Parts> {
  const { targets, store, wall, auth } = options
  const now = wall()
  const none = onlyStoreErrors(undefined)
  const known = await store.silences(now - SILENCES_SECONDS).catch(none)
  const active = (known ?? []).filter(({ until }) => until > now)
  const views = new Map([
    ...targets.own().map((each) => [each.name, { json: targetJson(each), alerts: [...each.alerts.values()] }] as const),
    ...targets.others().map((each) => [each.name, { json: otherTargetJson(each, now), alerts: each.alerts }] as const),
  ])
  const names = targets.all().filter((name) => views.has(name))
  const fields = {
    names,
    since: perMinute.since,
    silences: known?.map(silenceView),
    read_only: auth === undefined,
    webhooks: await webhookViews(store, now).catch(none),
    receivers: await receiverViews(options).catch(none),
  }
  const parts = new Map<string, Part>()
  for (const name of names) {
    const { json, alerts } = views.get(name)!
    const shown = JSON.stringify(alerts.map((instance) => alertView({ target: name, instance }, active)))
    const text = `{"target":${json},"alerts":${shown}}`
    parts.set(`target ${name}`, { list: 'targets', text, sign: text.replaceAll(AGES, '') })
  }
  for (const each of perMinute.targets) {
    const text = JSON.stringify(each)
    parts.set(`minutes ${each.name}`, { list: 'minutes', text, sign: `${perMinute.since}${text}` })
  }
  for (const [name, value] of Object.entries(fields)) {
    const text = `"${name}":${JSON.stringify(value)}`
    const part = value === undefined ? before.get(name) : { text, sign: text }
    if (part !== undefined) parts.set(name, part)
  }
  return parts
}
