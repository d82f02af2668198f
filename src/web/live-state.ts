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
import type { StateChange } from '../views/state/state.ts'
import { countPerMinute } from './finished-per-minute.ts'
import type { WebOptions } from './server.ts'
import { lasting, withVersions, type Part, type Parts, type StateReading } from './state.ts'

/** The state by its parts, what each event begins with, and the texts of events by the names of the parts that they have. */
export type LiveState = {
  head: Pick<StateChange, 'version' | 'now'>
  parts: Parts
  texts: Map<string, string>
}

const TICK_SECONDS = 1
/** The finished calls of each minute are read this often: what shows them is drawn again then. */
const MINUTES_SECONDS = 5
/** Without a change, a client is told this often that the connection works. */
const QUIET_SECONDS = 10
/** An older state is not sent to a new client. The store may hang. */
const OLDEST_SECONDS = 20

type StateClock = Pick<Clock, 'scheduler' | 'monotonic'>

/**
 * The state with the finished calls of each minute, read for all clients together, while there are any: each second, and where that takes
 * long, in a tenth of the time. Errors after a bug.
 */
export function liveState(
  options: WebOptions,
  readState: () => Promise<StateReading>,
  { scheduler, monotonic }: StateClock,
): Observable<LiveState> {
  const readMinutes = lasting(() => countPerMinute(options))
  let begun = 0
  let countedAt = -Infinity
  let minutes: Parts = new Map()
  const pause = () => timer(Math.max(TICK_SECONDS, 9 * (monotonic() - begun)) * 1000, scheduler)
  return defer(async (): Promise<LiveState> => {
    begun = monotonic()
    if (begun - countedAt >= MINUTES_SECONDS) {
      countedAt = begun
      minutes = withVersions(minuteParts(await readMinutes()), minutes)
    }
    const { state, parts } = await readState()
    const { version, now } = state
    return { head: { version, now }, parts: new Map([...parts, ...minutes]), texts: new Map() }
  }).pipe(
    repeat({ delay: pause }),
    share({ connector: () => new ReplaySubject<LiveState>(1, OLDEST_SECONDS * 1000, scheduler) }),
  )
}

function minuteParts(counted: Awaited<ReturnType<typeof countPerMinute>> | undefined): Parts {
  if (counted === undefined) return new Map()
  const { since, targets } = counted
  return new Map<string, Part>([
    ['since', { value: { since }, version: since }],
    ...targets.map((each): [string, Part] => [
      `minutes ${each.name}`,
      { value: { minutes: [each] }, version: [since, each] },
    ]),
  ])
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
  const change: StateChange = { ...head, targets: [], alerts: [], minutes: [] }
  for (const { targets = [], alerts = [], minutes = [], ...fields } of names.map((name) => parts.get(name)!.value)) {
    change.targets.push(...targets)
    change.alerts.push(...alerts)
    change.minutes.push(...minutes)
    Object.assign(change, fields)
  }
  const text = `event: state\ndata: ${JSON.stringify(change)}\n\n`
  texts.set(key, text)
  return text
}
