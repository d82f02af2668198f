import { isDeepStrictEqual } from 'node:util'
import { map, mergeScan, share, shareReplay, startWith, type Observable } from 'rxjs'
import type { Config } from '../config/config.ts'
import type { Problem } from '../config/config-error.ts'
import { needsRestart } from '../config/needs-restart.ts'
import { StoreError } from '../store/store.ts'
import type { Reading } from './config-readings.ts'

/** What came of a configuration that was read while the daemon runs. */
export type Reload = {
  /** The configuration in force from now on; the old one where the new one was refused. */
  config: Config
  /** Why it was refused; none where it is in force. */
  problems: readonly Problem[]
  /** The sections of the file that say something else than before. */
  changed: readonly string[]
}

export type TakeOverOptions = {
  first: Config
  readings$: Observable<Reading>
  /** Prepares for a configuration, the last step before it is in force. Rejects with a StoreError, and then nothing has changed. */
  prepare: (config: Config) => Promise<void>
}

/**
 * The configuration in force, the first one at once, and what came of each reading. One is taken over whole or not at all:
 * what is invalid, cannot change while the daemon runs, or has a target that cannot be opened, is refused.
 */
export function takeOver({ first, readings$, prepare }: TakeOverOptions): {
  config$: Observable<Config>
  reloads$: Observable<Reload>
} {
  async function judge({ config: current }: Reload, reading: Reading): Promise<Reload> {
    const stays = (problems: readonly Problem[]) => ({ config: current, problems, changed: [] })
    if ('problems' in reading) return stays(reading.problems)
    const changed = changedSections(current, reading.config)
    if (changed.length === 0) return stays([])
    const fixed = needsRestart(current, reading.config)
    if (fixed.length > 0) return stays(fixed)
    try {
      await prepare(reading.config)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      return stays([{ path: 'targets', message: error.message }])
    }
    return { config: reading.config, problems: [], changed }
  }

  const start: Reload = { config: first, problems: [], changed: [] }
  const reloads$ = readings$.pipe(mergeScan(judge, start, 1), share())
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
