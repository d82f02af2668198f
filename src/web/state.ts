import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { livesOf, type LiveAlert } from '../alerts/alert.ts'
import { incidentsOf } from '../alerts/incidents.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import { readNotifiedAlerts, withMessages } from '../notifications/notified-incidents.ts'
import { onlyStoreErrors } from '../store/store-error.ts'
import { stateView, type State, type StateChange } from '../views/state.ts'
import type { TargetView } from '../views/target.ts'
import type { WebOptions } from './server.ts'

/**
 * A part of the state: an entry of a list, or a field. `version` is the same object until what the part shows has changed; clients
 * compare it by identity.
 */
export type Part = { value: Partial<StateChange>; version: unknown }
export type Parts = ReadonlyMap<string, Part>

/** The state, its parts, and what its alerts were made of. `tag` is the same text until a part has changed. */
export type StateReading = { state: State; parts: Parts; lives: readonly LiveAlert[]; tag: string }

/** How long expired silences are part of the state. */
const SILENCES_SECONDS = 7 * 86_400
/** What changes as time passes, without news, unless it was nothing before. */
const TICKING = ['lag_seconds', 'sweep_age_seconds', 'rate_limit_pause_seconds', 'requests_last_minute'] as const

/** A reader of the state. Those who ask while it is read get the same reading, unless it is forgotten because something changed. */
export function stateIn(options: WebOptions): { read: () => Promise<StateReading>; forget: () => void } {
  const readStore = storeReader(options)
  const process = randomUUID()
  let parts: Parts = new Map()
  let revision = 0
  let reading: Promise<StateReading> | undefined

  async function read(): Promise<StateReading> {
    const stored = await readStore()
    const { targets, wall, publicUrl } = options
    const [names, own, others, now] = [targets.all(), targets.own(), targets.others(), wall()]
    const lives = livesOf([...own, ...others])
    const [groupOf, freshFrom] = [options.groupOf(), options.freshFrom()]
    const incidents = incidentsOf(lives, groupOf, names.length, freshFrom, options.configured())
    const page = publicUrl()
    const state = stateView({
      version: options.version,
      now,
      problem: options.problem(),
      names,
      own,
      others,
      incidents: withMessages(incidents, stored.notified ?? new Map()),
      runbooks: page && `${page}/runbooks`,
      groupOf,
      suppressed: options.suppressed,
      freshFrom,
      receivers: options.receivers(),
      webhooks: stored.webhooks,
      silences: stored.silences,
      readOnly: options.auth === undefined,
      canFind: options.auth !== undefined && options.find() !== undefined,
      needsConfig: options.isNamed ?? false,
    })
    const before = parts
    parts = partsOf(state, before)
    if (!haveSameVersions(parts, before)) revision += 1
    return { state, parts, lives, tag: `W/"${process}-${revision}"` }
  }
  const forget = () => (reading = undefined)
  return {
    /** Rejects after a bug. */
    read: () => {
      if (reading !== undefined) return reading
      const begun = read().finally(() => reading === begun && forget())
      return (reading = begun)
    },
    forget,
  }
}

/** The longest wait for the store (milliseconds): a disk that does not confirm a commit must not delay what is known without it. */
const LONGEST_READ_MS = 1000

/** What only the store knows. While it cannot be read, what it said last stays. */
function storeReader({ store, wall }: WebOptions) {
  const readSilences = lasting(() => store.silences(wall() - SILENCES_SECONDS))
  const readWebhooks = lasting(() => webhookViews(store, wall()))
  const readMessages = lasting(() => readNotifiedAlerts(store))
  return async () => {
    const [silences, webhooks, notified] = await Promise.all([readSilences(), readWebhooks(), readMessages()])
    return { silences, webhooks, notified }
  }
}

/** Reads something from the store; what the store cannot say now, or not soon, stays as it was. */
export function lasting<Value>(read: () => Promise<Value>) {
  let last: Value | undefined
  let late: Promise<unknown> | undefined
  return async () => {
    if (late !== undefined) return last
    const reading = read()
      .then((value) => (last = value))
      .catch(onlyStoreErrors(undefined))
    const isLate = await Promise.race([
      reading.then(() => false),
      once(AbortSignal.timeout(LONGEST_READ_MS), 'abort').then(() => true),
    ])
    if (isLate) late = reading.finally(() => (late = undefined)).catch(() => undefined)
    return last
  }
}

/** The parts of a state, those that have not changed with the version of before. */
function partsOf({ version: _version, now: _now, targets, alerts, ...fields }: State, before: Parts): Parts {
  const parts = new Map<string, Part>()
  const own = Map.groupBy(alerts, ({ target }) => target)
  for (const target of targets) {
    const value = { targets: [target], alerts: own.get(target.name) ?? [] }
    parts.set(`target ${target.name}`, { value, version: [withoutPassing(target), value.alerts] })
  }
  const named = { ...fields, names: targets.map(({ name }) => name) }
  for (const [name, value] of Object.entries(named)) parts.set(name, { value: { [name]: value }, version: [value] })
  return withVersions(parts, before)
}

/** Parts with the versions of before where these are equal. */
export function withVersions(parts: Parts, before: Parts): Parts {
  const kept = Array.from(parts, ([name, part]): [string, Part] => {
    const version = before.get(name)?.version
    return [name, isDeepStrictEqual(version, part.version) ? { ...part, version } : part]
  })
  return new Map(kept)
}

const haveSameVersions = (parts: Parts, before: Parts) =>
  parts.size === before.size && [...parts].every(([name, { version }]) => version === before.get(name)?.version)

function withoutPassing(target: TargetView) {
  const ticking = TICKING.map((name) => [name, target[name] === 0 || target[name] === null ? target[name] : undefined])
  return { ...target, ...Object.fromEntries(ticking) }
}
