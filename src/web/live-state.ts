import { isDeepStrictEqual } from 'node:util'
import {
  BehaviorSubject,
  catchError,
  defer,
  delay,
  map,
  NEVER,
  repeat,
  filter,
  ReplaySubject,
  share,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import { isoTime } from '../clock/times.ts'
import { readNotifiedAlerts } from '../history/notified-incidents.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { alertView } from '../views/alert.ts'
import { otherTargetView, targetView, type TargetView } from '../views/target.ts'
import { silenceView } from '../views/silence.ts'
import type { StateChange } from '../views/status.ts'
import { incidentsNow, liveAlerts } from './api/alerts.ts'
import { receiverViews } from './api/deliveries.ts'
import { countPerMinute } from './api/finished-per-minute.ts'
import type { WebOptions } from './server.ts'

/**
 * A part of the state: an entry of a list, or a field. `version` is the same object until what the part shows has changed; clients
 * compare it by identity.
 */
type Part = { list?: 'targets' | 'minutes'; value: unknown; version: unknown }

/** The state by its parts, what each event begins with, and the texts of events by the names of the parts that they have. */
export type LiveState = {
  head: Pick<StateChange, 'version' | 'now'>
  parts: ReadonlyMap<string, Part>
  texts: Map<string, string>
}

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
const TICKING = ['lag_seconds', 'sweep_age_seconds', 'rate_limit_pause_seconds', 'requests_last_minute'] as const

type StateClock = Pick<Clock, 'scheduler' | 'monotonic'>

/**
 * The state of all targets, read for all clients together, while there are any: each second, and where that takes long, in a tenth of
 * the time. Errors after a bug.
 */
export function liveState(options: WebOptions, { scheduler, monotonic }: StateClock): Observable<LiveState> {
  const read = storeReader(options, monotonic)
  let begun = 0
  let parts: LiveState['parts'] = new Map()
  const pause = () => timer(Math.max(TICK_SECONDS, 9 * (monotonic() - begun)) * 1000, scheduler)
  return defer(async (): Promise<LiveState> => {
    begun = monotonic()
    parts = partsOf(options, await read(), parts)
    return { head: { version: options.version, now: isoTime(options.wall()) }, parts, texts: new Map() }
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
  const sent = new Map<string, unknown>()
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
      last = latest
      const { parts } = latest
      const changed = [...parts].flatMap(([name, { version }]) => (sent.get(name) === version ? [] : name))
      if (changed.length === 0 && monotonic() - at < QUIET_SECONDS) return ''
      at = monotonic()
      for (const name of sent.keys()) if (!parts.has(name)) sent.delete(name)
      for (const name of changed) sent.set(name, parts.get(name)!.version)
      return textOf(latest, changed)
    },
    /** Emits false when there is another state. Errors after a bug, which ends the stream. */
    other$: latest$.pipe(
      // It may have come since the last one was looked at.
      filter((latest) => latest !== last),
      map(() => false),
    ),
  }
}

/** The text of an event with some parts. Nearly all clients need the same ones. */
function textOf({ head, parts, texts }: LiveState, names: readonly string[]): string {
  const key = names.join('\n')
  const known = texts.get(key)
  if (known !== undefined) return known
  const lists: Record<NonNullable<Part['list']>, unknown[]> = { targets: [], minutes: [] }
  const fields: Record<string, unknown> = {}
  for (const name of names) {
    const { list, value } = parts.get(name)!
    if (list === undefined) fields[name] = value
    else lists[list].push(value)
  }
  const text = `event: state\ndata: ${JSON.stringify({ ...head, ...lists, ...fields })}\n\n`
  texts.set(key, text)
  return text
}

/** Reads a part of the state from the store, again after so many seconds. What the store cannot say now stays as it was. */
function lasting<Value>(read: () => Promise<Value>, monotonic: () => number, seconds = 0) {
  let last: Value | undefined
  let at = -Infinity
  return async () => {
    if (monotonic() - at < seconds) return last
    at = monotonic()
    return (last = await read().catch(onlyStoreErrors(last)))
  }
}

type FromStore = Awaited<ReturnType<ReturnType<typeof storeReader>>>

function storeReader(options: WebOptions, monotonic: () => number) {
  const { store, wall } = options
  const readMinutes = lasting(() => countPerMinute(options), monotonic, MINUTES_SECONDS)
  const readSilences = lasting(() => store.silences(wall() - SILENCES_SECONDS), monotonic)
  const readWebhooks = lasting(() => webhookViews(store, wall()), monotonic)
  const readReceivers = async () => receiverViews(options)
  const readMessages = lasting(() => readNotifiedAlerts(store), monotonic)
  return async () => {
    const parts = [readMinutes(), readSilences(), readWebhooks(), readReceivers(), readMessages()] as const
    const [minutes, silences, webhooks, receivers, notified] = await Promise.all(parts)
    return { minutes, silences, webhooks, receivers, notified }
  }
}

function partsOf(
  options: WebOptions,
  { minutes, silences, notified, ...known }: FromStore,
  before: ReadonlyMap<string, Part>,
) {
  const { targets, wall, auth, problem } = options
  const groupOf = options.groupOf()
  const now = wall()
  const active = silences?.filter(({ until }) => until > now) ?? []
  const suppressed = options.suppressed(liveAlerts(targets), active)
  const views = new Map([
    ...targets.own().map((each) => [each.name, [targetView(each), [...each.alerts.values()]]] as const),
    ...targets.others().map((each) => [each.name, [otherTargetView(each, now), each.alerts]] as const),
  ])
  const { since, targets: counted } = minutes ?? { since: undefined, targets: [] }
  const names = targets.all().filter((name) => views.has(name))
  const fields = {
    problem: problem() ?? null,
    names,
    since,
    incidents: incidentsNow(options, notified),
    silences: silences?.map(silenceView),
    read_only: auth === undefined,
    needs_config: options.isNamed ?? false,
    ...known,
  } satisfies Record<keyof Omit<StateChange, 'version' | 'now' | 'targets' | 'minutes'>, unknown>
  const parts = new Map<string, Part>()
  const add = (name: string, part: Part) => {
    const version = before.get(name)?.version
    parts.set(name, isDeepStrictEqual(version, part.version) ? { ...part, version } : part)
  }
  for (const name of names) {
    const [target, instances] = views.get(name)!
    const alerts = withoutNoise(
      instances.map((instance) =>
        alertView({ target: name, instance }, groupOf, active, suppressed, options.freshFrom()),
      ),
    )
    const value: StateChange['targets'][number] = { target, alerts }
    add(`target ${name}`, { list: 'targets', value, version: [withoutPassing(target), alerts] })
  }
  for (const each of counted) add(`minutes ${each.name}`, { list: 'minutes', value: each, version: [since, each] })
  for (const [name, value] of Object.entries(withoutNoise(fields)))
    if (value !== undefined) add(name, { value, version: [value] })
  return parts
}

function withoutPassing(target: TargetView) {
  const ticking = TICKING.map((name) => [name, target[name] === 0 || target[name] === null ? target[name] : undefined])
  return { ...target, ...Object.fromEntries(ticking) }
}
