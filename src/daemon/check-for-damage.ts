import { EMPTY, ignoreElements, switchMap, takeUntil, timer, type Observable } from 'rxjs'
import { StoreError } from '../store/store-error.ts'
import type { Store } from '../store/store.ts'
import type { DaemonParts } from './parts.ts'

/** When the check begins, after the first polls (seconds). */
const AFTER_SECONDS = 60
/** How often the log reports its progress (seconds). */
const LOG_SECONDS = 10

type DamageOptions = Pick<DaemonParts, 'clock' | 'log' | 'draining$'> & { store: Pick<Store, 'check'> }

/**
 * Checks the whole store for damage once, in the background. Emits nothing. Fails with a StoreError if the store is damaged.
 */
export function checkForDamage({ store: { check }, clock, log, draining$ }: DamageOptions): Observable<never> {
  if (check === undefined) return EMPTY
  const once = async () => {
    const began = clock.monotonic()
    let logged = began
    log.info('checking the store for damage')
    await check((table, place) => {
      if (clock.monotonic() - logged < LOG_SECONDS) return
      logged = clock.monotonic()
      log.info(`checking the store for damage: table ${table}, ${place}`)
    })
    log.info(`checked the store for damage: found none (${(clock.monotonic() - began).toFixed(1)} s)`)
  }
  const unlessRefused = (error: unknown) => {
    if (!(error instanceof StoreError) || error.kind === 'refused') throw error
    log.warn(`the store was not checked for damage: ${error.message}`)
  }
  return timer(AFTER_SECONDS * 1000, clock.scheduler).pipe(
    switchMap(() => once().catch(unlessRefused)),
    ignoreElements(),
    takeUntil(draining$),
  )
}
