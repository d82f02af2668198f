import { isDeepStrictEqual } from 'node:util'
import { map, mergeScan, share, shareReplay, startWith, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import { needsRestart } from '../config/needs-restart.ts'
import { StoreError } from '../store/store-error.ts'
import type { ConfigReading } from './config-readings.ts'

/** The result of a configuration that was read while the daemon runs. */
export type Reload = {
  /** The configuration that is active from now on; the old one where the new one was refused. */
  config: Config
  /** Why it was refused; none where it is active. */
  problems: readonly Problem[]
  /** The sections of the file that changed. */
  changed: readonly string[]
}

export type ReloadsOptions = {
  first: Config
  readings$: Observable<ConfigReading>
  /** Prepares for a configuration, the last step before it is active. Rejects with a StoreError, and then nothing has changed. */
  prepare: (config: Config) => Promise<void>
}

/**
 * The active configuration, the first one at once, and the result of each reading. A configuration is reloaded whole or not
 * at all: one that is invalid, that cannot change while the daemon runs, or with a target that cannot be opened, is refused.
 */
export function reloads({ first, readings$, prepare }: ReloadsOptions): {
  config$: Observable<Config>
  reloads$: Observable<Reload>
} {
  async function reload({ config: current }: Reload, reading: ConfigReading): Promise<Reload> {
    const refused = (problems: readonly Problem[]) => ({ config: current, problems, changed: [] })
    if ('problems' in reading) return refused(reading.problems)
    const changed = changedSections(current, reading.config)
    if (changed.length === 0) return refused([])
    const fixed = needsRestart(current, reading.config)
    if (fixed.length > 0) return refused(fixed)
    try {
      await prepare(reading.config)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return refused([{ path: 'targets', message: error.message }])
    }
    return { config: reading.config, problems: [], changed }
  }

  const start: Reload = { config: first, problems: [], changed: [] }
  const reloads$ = readings$.pipe(mergeScan(reload, start, 1), share())
  const config$ = reloads$.pipe(
    map(({ config }) => config),
    startWith(first),
    shareReplay({ bufferSize: 1, refCount: true }),
  )
  return { config$, reloads$ }
}

function changedSections(current: Config, next: Config): string[] {
  const before = new Map<string, unknown>(Object.entries(current))
  return Object.entries(next).flatMap(([section, value]) =>
    isDeepStrictEqual(value, before.get(section)) ? [] : [section],
  )
}
