import { isDeepStrictEqual } from 'node:util'
import { filter, map, merge, scan, takeUntil, timer, type Observable } from 'rxjs'
import type { Clock } from '../clock/clock.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Problem } from '../config/config-error.ts'

/** The configuration as it was read, or what keeps it from being one. */
export type Reading = { config: Config } | { problems: readonly Problem[] }

export type ConfigReadingsOptions = {
  /** Reads file, secrets' files and environment; throws a ConfigError. */
  load: () => Config
  /** That which is in force at the start. */
  first: Config
  /** Emits when somebody asks for it to be read now. */
  asked$: Observable<unknown>
  clock: Clock
  stop$: Observable<unknown>
}

/** Seconds between two readings. */
const INTERVAL = 2

/**
 * The configuration each time that it says something else, and each time that somebody asks, until `stop$`. It is asked
 * for every other second: that needs no watching of files, which editors put new ones in the place of, and which
 * Kubernetes changes by turning a link to another folder. A file that is just being written is not taken at its word: a
 * change counts when two readings in a row agree.
 */
export function configReadings(options: ConfigReadingsOptions): Observable<Reading> {
  const { first, asked$, clock, stop$ } = options
  const start: Progress = { seen: { config: first }, told: { config: first }, isNews: false }
  return merge(
    asked$.pipe(map(() => true)),
    timer(INTERVAL * 1000, INTERVAL * 1000, clock.scheduler).pipe(map(() => false)),
  ).pipe(
    takeUntil(stop$),
    scan(({ seen, told }, isAsked): Progress => {
      const reading = read(options)
      const isNews = isAsked || (isDeepStrictEqual(reading, seen) && !isDeepStrictEqual(reading, told))
      return { seen: reading, told: isNews ? reading : told, isNews }
    }, start),
    filter(({ isNews }) => isNews),
    map(({ told }) => told),
  )
}

type Progress = {
  /** The latest reading, and the latest that was passed on. */
  seen: Reading
  told: Reading
  isNews: boolean
}

function read({ load }: ConfigReadingsOptions): Reading {
  try {
    return { config: load() }
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems }
    // A daemon that runs is not to end by what it cannot read.
    return { problems: [{ path: 'the configuration', message: `cannot be read: ${String(error)}` }] }
  }
}
