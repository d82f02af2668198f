import { isDeepStrictEqual } from 'node:util'
import { concatMap, defer, lastValueFrom, map, share, shareReplay, startWith, takeUntil, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import { secretsOf } from '../config/secrets.ts'
import { onlyStoreErrors, StoreError } from '../store/store-error.ts'
import { storeRetried } from '../store/store-retried.ts'
import type { ConfigReading } from './config-readings.ts'
import { logRenamed } from './reporting/log-renamed.ts'
import { misfits, needsRestart, withoutRestart } from './fixed-settings.ts'
import type { Reload } from './daemon-event.ts'
import type { OpenDaemon } from './open-parts.ts'
import { sharedSettings } from './shared-settings.ts'

/**
 * The active configuration, first the initial one, then the result of each reading. Of a configuration, all is taken but what needs a
 * restart. It is refused as a whole if it is invalid, also with what is kept, or has a target that cannot be opened.
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
  const refused = (problems: readonly Problem[]) => ({ config: current, problems, kept: [], changed: [] })
  if ('problems' in reading) return refused(reading.problems)
  const kept = needsRestart(current, reading.config)
  const next = kept.length === 0 ? reading.config : withoutRestart(current, reading.config)
  const unfit = kept.length === 0 ? [] : misfits(next)
  if (unfit.length > 0) return refused([...kept, ...unfit])
  const changed = changedSections(current, next)
  if (changed.length === 0) return { ...refused([]), kept }
  try {
    await apply(parts, next)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    // The other daemons must not have to use what is refused here.
    await parts.store.cluster?.declare(sharedSettings(current)).catch(onlyStoreErrors(undefined))
    return refused([{ path: 'targets', message: error.message }])
  }
  return { config: next, problems: [], kept, changed }
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
    logRenamed(log, await targets.open(next))
    await cluster?.declare(sharedSettings(next))
  }

  secrets.add(secretsOf(next))
  if ('url' in next.store && !isDeepStrictEqual(next.store, parts.config().store)) cluster?.setUrl(next.store.url)
  // All daemons on the store have read the same configuration. A daemon that cannot use the store now must not refuse it.
  await (cluster === undefined ? declare() : whenAvailable(declare))
  const prepared = await receivers.prepare(next)
  if (!isDeepStrictEqual(prepared.keys, receivers.keys())) await whenAvailable(() => store.setReceivers(prepared.keys))
  log.level = next.log.level
  prepared.activate()
  if (next.http.tls !== undefined) web.renew(next.http.tls)
  activate(next)
}
