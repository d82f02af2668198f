import * as z from 'zod'
import type { AlertInstance } from '../../alerts/alert-instance.ts'
import type { TargetStatus } from '../../pipeline/target.ts'
import { wholeMilliseconds } from '../../clock/times.ts'
import { parseMap } from '../../schema/path.ts'
import { committedJson, currentView, joinJson, serviceNow, type CurrentView } from './target-view.ts'

/** The fields of an alert that readers use. */
const alert = z.object({
  key: z.string(),
  labels: z.record(z.string(), z.string()),
  rule: z.object({ name: z.string(), severity: z.string(), signal: z.object({ name: z.string() }) }),
  state: z.enum(['pending', 'firing', 'recovering']),
  since: z.number(),
  firingSince: z.number().optional(),
})

/**
 * The first line of an overview. Times are UNIX seconds, ages seconds. Checks only what another version of callwatch could have written
 * in another way.
 */
const head = z.object({
  version: z.literal(1),
  /** When it was written, by the owner's host. */
  at: z.number(),
  /** When the target was set up, and its last successful poll, by the service's clock; and that clock at `at`. */
  created: z.number(),
  lastSuccess: z.number().optional(),
  serviceNow: z.number(),
  /** The time since the rules were last evaluated. */
  evaluationAge: z.number(),
  alerts: z.array(z.custom<AlertInstance>((instance) => alert.safeParse(instance).success)),
  current: z.custom<CurrentView>((view) => typeof view === 'object' && view !== null),
})

/**
 * The overview of a target that another daemon owns, as its owner wrote it. `committed` is the rest of its view in `/api/v1/status`,
 * as JSON.
 */
export type Overview = z.output<typeof head> & { committed: string }

/** A target that another daemon owns. */
export type OtherTarget = Overview & {
  name: string
  owner: string | undefined
  /** Why it is not polled, in a sentence. */
  problem: string | undefined
}

/**
 * Writes what the other daemons show of a target: a line of JSON, and a second line with the committed part of its view, which they
 * use unchanged.
 *
 * @param wall UNIX seconds
 */
export function writeOverview(target: TargetStatus, wall: number): string {
  const { sync } = target.ledger
  const written: z.input<typeof head> = {
    version: 1,
    at: wall,
    created: sync.created,
    lastSuccess: sync.lastSuccess,
    serviceNow: serviceNow(target),
    evaluationAge: target.evaluationAge(),
    alerts: [...target.alerts.values()].map(({ values: _values, ...alert }) => alert),
    current: currentView(target),
  }
  return `${JSON.stringify(written)}\n${committedJson(target)}`
}

/** Reads what {@link writeOverview} wrote; undefined where another version of callwatch wrote it in another way. */
export function readOverview(text: string): Overview | undefined {
  const end = text.indexOf('\n')
  const read = head.safeParse(parseMap(text.slice(0, Math.max(0, end))))
  const committed = text.slice(end + 1)
  // As joinJson needs it: an object that is not empty.
  return read.data && committed.startsWith('{"') && parseMap(committed) !== undefined
    ? { ...read.data, committed }
    : undefined
}

/** A target that another daemon owns, in `/api/v1/status`, as JSON. */
export function otherTargetJson({ at, current, committed, owner, problem }: OtherTarget, wall: number): string {
  const passed = Math.max(0, wall - at)
  const { lag_seconds: lag, sweep_age_seconds: sweepAge, rate_limit_pause_seconds: paused, ...shown } = current
  const view: CurrentView = {
    ...shown,
    owner,
    ...(problem !== undefined && { up: false, problem }),
    lag_seconds: wholeMilliseconds(lag + passed),
    sweep_age_seconds: sweepAge === null ? null : wholeMilliseconds(sweepAge + passed),
    rate_limit_pause_seconds: Math.max(0, paused - passed),
  }
  return joinJson(view, committed)
}
