import { isDeepStrictEqual } from 'node:util'
import { defer, map, merge, mergeMap, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Problem } from '../config/config-error.ts'

/** A configuration that was read, or the problems that make it invalid. */
export type ConfigReading = { config: Config } | { problems: readonly Problem[] }

export type ConfigReadingsOptions = {
  /** Reads the file, the secrets' files and the environment. Throws a ConfigError. */
  load: () => Config
  /** The configuration that is active at the start. */
  first: Config
  /** Emits when the configuration must be read now (SIGHUP). */
  requested$: Observable<unknown>
  clock: Clock
  draining$: Observable<unknown>
}

/** Seconds between two readings. */
const READ_INTERVAL_SECONDS = 2

/**
 * Emits the configuration each time that it has changed, and each time that `requested$` emits, until `draining$`. It is read
 * every two seconds: watchers miss files that editors replace, and files that Kubernetes changes by pointing a link at
 * another folder. A file may be read while it is being written, so a change counts when two readings in a row agree.
 */
export function configReadings(options: ConfigReadingsOptions): Observable<ConfigReading> {
  const { first, requested$, clock, draining$ } = options
  return defer(() => {
    let seen: ConfigReading = { config: first }
    let emitted: ConfigReading = seen
    return merge(
      requested$.pipe(map(() => true)),
      timer(READ_INTERVAL_SECONDS * 1000, READ_INTERVAL_SECONDS * 1000, clock.scheduler).pipe(map(() => false)),
    ).pipe(
      takeUntil(draining$),
      mergeMap((isRequested) => {
        const reading = read(options)
        const isSettled = isDeepStrictEqual(reading, seen)
        seen = reading
        if (!isRequested && (!isSettled || isDeepStrictEqual(reading, emitted))) return []
        emitted = reading
        return [reading]
      }),
    )
  })
}

function read({ load }: ConfigReadingsOptions): ConfigReading {
  try {
    return { config: load() }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    // A file that cannot be read must not end a running daemon.
    return { problems: [{ path: 'the configuration', message: `cannot be read: ${String(error)}` }] }
  }
}
