import { BehaviorSubject, catchError, defer, delay, map, NEVER, repeat } from 'rxjs'
import { ReplaySubject, share, skip, takeUntil, timer, type Observable } from 'rxjs'
import type { Silence } from '../alerts/match.ts'
import { webhookViews, type WebhookView } from '../events/webhooks/webhook-views.ts'
import type { Clock } from '../clock/clock.ts'
import { isoTime } from '../clock/times.ts'
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
  /** Why this daemon can own no target; null if it can. */
  problem?: string | null
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

/** The state by its parts. `head` is JSON without braces: what each event begins with. */
export type LiveState = { head: string; parts: ReadonlyMap<string, Part> }

const TICK_SECONDS = 1
/** The finished calls of each minute are read this often: what shows them is drawn again then. */
const MINUTES_SECONDS = 5
/** Without a change, a client is told this often that the connection works. */
const QUIET_SECONDS = 10
/** An older state is not sent to a new client. The store may hang. */
const OLDEST_SECONDS = 20
/** How long expired silences are part of the state. */
const SILENCES_SECONDS = 7 * 86_400
/** What changes as time passes, without news, unless it was nothing before. */
const PASSING =
  /(?<="(?:lag_seconds|sweep_age_seconds|rate_limit_pause_seconds|requests_last_minute)":)(?!0[,}]|null)[^,}]*/g

type StateClock = Pick<Clock, 'scheduler' | 'monotonic'>

/**
 * The state of all targets, read for all clients together, while there are any: each second, and where that takes long, in a tenth of
 * the time. Errors after a bug.
 */
export function liveState(options: WebOptions, { scheduler, monotonic }: StateClock): Observable<LiveState> {
  const read = stateOf(options, monotonic)
  let begun = 0
  const pause = () => timer(Math.max(TICK_SECONDS, 9 * (monotonic() - begun)) * 1000, scheduler)
  return defer(() => {
    begun = monotonic()
    return read()
  }).pipe(
    repeat({ delay: pause }),
    share({ connector: () => new ReplaySubject<LiveState>(1, OLDEST_SECONDS * 1000, scheduler) }),
  )
}

/** Emits a second after the state was read: until then the newest events were read, too. */
export const onceRead = (state$: Observable<LiveState> = NEVER, { scheduler }: Pick<StateClock, 'scheduler'>) =>
  state$.pipe(
    delay(TICK_SECONDS * 1000, scheduler),
    catchError(() => NEVER),
  )

/** What a client of a stream does not have yet of the state. */
export function stateReader(
  state$: Observable<LiveState>,
  aborted$: Observable<unknown>,
  { monotonic }: Pick<StateClock, 'monotonic'>,
) {
  const sent = new Map<string, string>()
  let last: LiveState | undefined
  let at = -Infinity
  const latest$ = new BehaviorSubject<LiveState | undefined>(undefined)
  state$.pipe(takeUntil(aborted$)).subscribe(latest$)
  return {
    /**
     * The text of an event; '' without a change, unless the client must hear that the connection works.
     *
     * @throws after a bug, which ends the stream
     */
    changes: () => {
      const latest = latest$.getValue()
      if (latest === undefined || latest === last) return ''
      const { head, parts } = latest
      const changed = [...parts].filter(([name, { sign }]) => sent.get(name) !== sign)
      if (changed.length === 0 && monotonic() - at < QUIET_SECONDS) return ''
      at = monotonic()
      last = latest
      for (const name of sent.keys()) if (!parts.has(name)) sent.delete(name)
      for (const [name, { sign }] of changed) sent.set(name, sign)
      const texts = (list?: Part['list']) =>
        changed.flatMap(([, part]) => (part.list === list ? part.text : [])).join(',')
      const fields = texts()
      const lists = `"targets":[${texts('targets')}],"minutes":[${texts('minutes')}]`
      return `event: state\ndata: {${head},${lists}${fields && `,${fields}`}}\n\n`
    },
    /** Emits false when there is another state. Errors after a bug, which ends the stream. */
    other$: latest$.pipe(
      skip(1),
      map(() => false),
    ),
  }
}

type FromStore = {
  minutes: FinishedPerMinute | undefined
  silences: readonly Silence[] | undefined
  webhooks: WebhookView[] | undefined
  receivers: ReceiverView[] | undefined
}

/** Reads the state. What the store cannot say now stays as it was. */
function stateOf(options: WebOptions, monotonic: () => number): () => Promise<LiveState> {
  const { store, wall, version } = options
  let known: FromStore = { minutes: undefined, silences: undefined, webhooks: undefined, receivers: undefined }
  let minutesAt = -Infinity
  return async () => {
    const none = onlyStoreErrors(undefined)
    const areDue = monotonic() - minutesAt >= MINUTES_SECONDS
    if (areDue) minutesAt = monotonic()
    const [minutes, silences, webhooks, receivers] = await Promise.all([
      areDue ? finishedPerMinute(options).catch(none) : undefined,
      store.silences(wall() - SILENCES_SECONDS).catch(none),
      webhookViews(store, wall()).catch(none),
      receiverViews(options).catch(none),
    ])
    known = {
      minutes: minutes ?? known.minutes,
      silences: silences ?? known.silences,
      webhooks: webhooks ?? known.webhooks,
      receivers: receivers ?? known.receivers,
    }
    return { head: JSON.stringify({ version, now: isoTime(wall()) }).slice(1, -1), parts: partsOf(options, known) }
  }
}

function partsOf({ targets, wall, auth, problem }: WebOptions, { minutes, silences, ...known }: FromStore) {
  const now = wall()
  const active = silences?.filter(({ until }) => until > now) ?? []
  const views = new Map([
    ...targets.own().map((each) => [each.name, { json: targetJson(each), alerts: [...each.alerts.values()] }] as const),
    ...targets.others().map((each) => [each.name, { json: otherTargetJson(each, now), alerts: each.alerts }] as const),
  ])
  const { since, targets: counted } = minutes ?? { since: undefined, targets: [] }
  const names = targets.all().filter((name) => views.has(name))
  const fields = {
    problem: problem() ?? null,
    names,
    since,
    silences: silences?.map(silenceView),
    read_only: auth === undefined,
    ...known,
  }
  const parts = new Map<string, Part>()
  for (const name of names) {
    const { json, alerts } = views.get(name)!
    const shown = JSON.stringify(alerts.map((instance) => alertView({ target: name, instance }, active)))
    const text = `{"target":${json},"alerts":${shown}}`
    parts.set(`target ${name}`, { list: 'targets', text, sign: text.replaceAll(PASSING, '') })
  }
  for (const each of counted) {
    const text = JSON.stringify(each)
    parts.set(`minutes ${each.name}`, { list: 'minutes', text, sign: `${since}${text}` })
  }
  for (const [name, value] of Object.entries(fields)) {
    const text = `"${name}":${JSON.stringify(value)}`
    if (value !== undefined) parts.set(name, { text, sign: text })
  }
  return parts
}
