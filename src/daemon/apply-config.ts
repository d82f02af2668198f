import { isDeepStrictEqual } from 'node:util'
import { defer, lastValueFrom, takeUntil } from 'rxjs'
import type { Config } from '../config/config.ts'
import { secretsOf } from '../config/secrets-of.ts'
import { storeRetried } from '../store/store-retried.ts'
import type { DaemonOptions, Parts } from './open-parts.ts'
import { sharedSettings } from './shared-settings.ts'

export type ApplyOptions = Pick<DaemonOptions, 'draining$'> &
  Pick<Parts, 'clock' | 'log' | 'store' | 'secrets' | 'targets' | 'receivers' | 'web' | 'config' | 'activate'>

/**
 * Makes a configuration the active one, or changes nothing.
 *
 * @throws {StoreError}
 */
export function applyConfig(options: ApplyOptions): (next: Config) => Promise<void> {
  const { clock, log, store, secrets, targets, receivers, web, config, activate, draining$ } = options
  const { cluster } = store

  /** Retries while the store cannot be used. */
  const whenAvailable = (work: () => Promise<void>): Promise<void> =>
    lastValueFrom(defer(work).pipe(storeRetried(clock, ['refused', 'stale']), takeUntil(draining$)), {
      defaultValue: undefined,
    })

  async function declare(next: Config): Promise<void> {
    await targets.open(next)
    const settings = sharedSettings(next)
    if (!isDeepStrictEqual(settings, sharedSettings(config()))) await cluster?.declare(settings)
  }

  return async (next) => {
    secrets.learn(secretsOf(next))
    if (cluster === undefined) await targets.open(next)
    // All daemons on the store have read the same: one that cannot use the store now must not refuse it.
    else await whenAvailable(() => declare(next))
    const prepared = await receivers.prepare(next)
    if (!isDeepStrictEqual(prepared.names, receivers.names()))
      await whenAvailable(() => store.setReceivers(prepared.names))
    log.level = next.log.level
    prepared.activate()
    if (next.http.tls !== undefined) web.renew(next.http.tls)
    activate(next)
  }
}
