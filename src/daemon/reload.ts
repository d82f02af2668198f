import { isDeepStrictEqual } from 'node:util'
import { concatMap, defer, lastValueFrom, map, share, shareReplay, startWith, takeUntil, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import { secretsOf } from '../config/secrets.ts'
import { onlyStoreErrors, StoreError } from '../store/store-error.ts'
import { storeRetried } from '../rx/store-retried.ts'
import type { ConfigReading } from './config-readings.ts'
import type { OpenDaemon } from './open-parts.ts'
import { sharedSettings } from './shared-settings.ts'

/** Settings that a running daemon cannot change, by their path in the file. */
const FIXED: readonly (readonly [path: string, of: (config: Config) => unknown])[] = [
  ['store.path', ({ store }) => ('path' in store ? store.path : undefined)],
  ['store.url', ({ store }) => ('url' in store ? store.url : undefined)],
  ['store.lease', ({ store }) => ('url' in store ? store.lease : undefined)],
  ['http.host', ({ http }) => http.host],
  ['http.port', ({ http }) => http.port],
  ['http.hooks', ({ http }) => http.hooks],
  // User, password and certificate may change, but not whether they are set.
  ['http.auth', ({ http }) => http.auth !== undefined],
  ['http.tls', ({ http }) => http.tls !== undefined],
]

/** Why a valid configuration cannot replace the current one while the daemon runs. */
export function needsRestart(current: Config, next: Config): Problem[] {
  return FIXED.filter(([, of]) => !isDeepStrictEqual(of(current), of(next))).map(([path]) => ({
    path,
    message: 'not the one with which the daemon was started; a change of it needs a restart',
  }))
}

/** The result of reading a configuration while the daemon runs. */
export type Reload = {
  /** The active configuration: the new one, or the old one if the new one was refused. */
  config: Config
  /** Why the new configuration was refused; empty if it is active. */
  problems: readonly Problem[]
  /** The sections of the file that changed. */
  changed: readonly string[]
}

/**
 * The active configuration, first the initial one, then the result of each reading. A configuration is reloaded completely or
 * not at all. It is refused if it is invalid, contains a change that needs a restart, or has a target that cannot be opened.
 */
export function reloads(parts: OpenDaemon, readings$: Observable<ConfigReading>) {
  const reloads$ = readings$.pipe(
    takeUntil(parts.draining$),
    concatMap((reading) => reload(parts, reading)),
    share(),
  )
  const config$ = reloads$.pipe(
    map(({ config }) => config),
    startWith(parts.config()),
    shareReplay({ bufferSize: 1, refCount: true }),
  )
  return { config$, reloads$ }
}

async function reload(parts: OpenDaemon, reading: ConfigReading): Promise<Reload> {
  const current = parts.config()
  const refused = (problems: readonly Problem[]) => ({ config: current, problems, changed: [] })
  if ('problems' in reading) return refused(reading.problems)
  const changed = changedSections(current, reading.config)
  if (changed.length === 0) return refused([])
  const fixed = needsRestart(current, reading.config)
  if (fixed.length > 0) return refused(fixed)
  try {
    await apply(parts, reading.config)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    // The other daemons must not have to use what is refused here.
    await parts.store.cluster?.declare(sharedSettings(current)).catch(onlyStoreErrors(undefined))
    return refused([{ path: 'targets', message: error.message }])
  }
  return { config: reading.config, problems: [], changed }
}

function changedSections(current: Config, next: Config): string[] {
  const before = new Map<string, unknown>(Object.entries(current))
  return Object.entries(next).flatMap(([section, value]) =>
    isDeepStrictEqual(value, before.get(section)) ? [] : [section],
  )
}

/**
 * Makes a configuration the active one, or changes nothing.
 *
 * @throws {StoreError}
 */
async function apply(parts: OpenDaemon, next: Config): Promise<void> {
  const { clock, log, store, secrets, targets, receivers, web, activate, draining$ } = parts
  const { cluster } = store

  /** Retries until the store can be used. */
  const whenAvailable = (work: () => Promise<void>): Promise<void> =>
    lastValueFrom(defer(work).pipe(storeRetried(clock, ['refused', 'stale']), takeUntil(draining$)), {
      defaultValue: undefined,
    })

  async function declare(): Promise<void> {
    await targets.open(next)
    await cluster?.declare(sharedSettings(next))
  }

  secrets.add(secretsOf(next))
  // All daemons on the store have read the same configuration. A daemon that cannot use the store now must not refuse it.
  await (cluster === undefined ? declare() : whenAvailable(declare))
  const prepared = await receivers.prepare(next)
  if (!isDeepStrictEqual(prepared.names, receivers.names()))
    await whenAvailable(() => store.setReceivers(prepared.names))
  log.level = next.log.level
  prepared.activate()
  if (next.http.tls !== undefined) web.renew(next.http.tls)
  activate(next)
}
