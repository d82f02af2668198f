import * as z from 'zod'
import { STATES, type AlertInstance } from '../alerts/alert-instance.ts'
import { wholeMilliseconds } from '../clock/times.ts'
import { isMap, parseMap } from '../schema/path.ts'
import { withoutNoise } from '../text/without-noise.ts'
import type { ShownTarget } from './shown-target.ts'
import {
  committedView,
  currentView,
  setUpOf,
  withState,
  type CommittedView,
  type CurrentView,
  type TargetView,
} from './target.ts'

/** The fields of an alert that readers use. */
const alert = z.object({
  key: z.string(),
  labels: z.record(z.string(), z.string()),
  rule: z.object({ name: z.string(), severity: z.string(), signal: z.object({ name: z.string() }) }),
  state: z.enum(STATES),
  since: z.number(),
  firingSince: z.number().optional(),
})

/**
 * A target as its owner shows it to the other daemons, in JSON. Times are UNIX seconds, ages seconds. Checks only what another version
 * of callwatch could have written in another way.
 */
const overview = z.object({
  version: z.literal(2),
  /** When it was written, by the owner's host. */
  at: z.number(),
  /** When the target was set up, since when its calls are counted, and its last successful poll, by the service's clock; and that clock at `at`. */
  created: z.number(),
  past: z.object({ from: z.number(), readAt: z.number() }).optional(),
  lastSuccess: z.number().optional(),
  serviceNow: z.number(),
  /** Whether a confirmed sweep has read its list. Earlier versions do not say so. */
  isSwept: z.boolean().default(true),
  /** The time since the rules were last evaluated. */
  evaluationAge: z.number(),
  alerts: z.array(z.custom<AlertInstance>((instance) => alert.safeParse(instance).success)),
  current: z.custom<CurrentView>(isMap),
  committed: z.custom<CommittedView>((view) => isMap(view) && Object.keys(view).length > 0),
})

export type Overview = z.output<typeof overview>

/** A target that another daemon owns. */
export type OtherTarget = Overview & {
  name: string
  owner: string | undefined
  /** Why it is not polled, in a sentence. */
  problem: string | undefined
}

/** @param wall UNIX seconds */
export function writeOverview(target: ShownTarget, wall: number): string {
  const { sync } = target.ledger
  return JSON.stringify({
    version: 2,
    at: wall,
    ...setUpOf(target),
    lastSuccess: sync.lastSuccess,
    evaluationAge: target.evaluationAge(),
    alerts: [...target.alerts.values()].map(({ values: _values, ...alert }) => alert),
    current: withoutNoise(currentView(target)),
    committed: committedView(target),
  } satisfies z.input<typeof overview>)
}

/** Reads what {@link writeOverview} wrote; undefined where another version of callwatch wrote it in another way. */
export function readOverview(text: string): Overview | undefined {
  return overview.safeParse(parseMap(text)).data
}

/** A target that another daemon owns. */
export function otherTargetView({ at, current, committed, owner, problem }: OtherTarget, wall: number): TargetView {
  const passed = Math.max(0, wall - at)
  const { lag_seconds: lag, sweep_age_seconds: sweepAge, rate_limit_pause_seconds: paused } = current
  return withState({
    ...current,
    owner,
    ...(problem !== undefined && { up: false, problem }),
    lag_seconds: wholeMilliseconds(lag + passed),
    sweep_age_seconds: sweepAge === null ? null : wholeMilliseconds(sweepAge + passed),
    rate_limit_pause_seconds: wholeMilliseconds(Math.max(0, paused - passed)),
    ...committed,
  })
}
