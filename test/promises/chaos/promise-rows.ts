import type { ChaosRun } from './chaos-run.ts'
import type { ExactComparison } from './compare-exact.ts'
import type { MessageComparison } from './compare-messages.ts'

/** One promise of the reliability table, or one kind of event that must occur. */
export type Row = { name: string; figure: string; holds: boolean; details: string[] }

export type ChaosReport = {
  seconds: number
  seed: number
  /** Processes of the daemon. */
  lives: number
  requests: number
  promises: Row[]
  coverage: Row[]
}

export type Figures = {
  exact: ExactComparison
  /** By receiver. */
  messages: Record<string, MessageComparison>
  /** Counters that were lower in a later scrape, a line each. */
  lower: readonly string[]
  scrapes: number
  mostRequests: number
  early: number
  /** Texts with a secret in them, and how much was searched. */
  secrets: number
  characters: number
  undone: string[]
}

const LONGEST_STOP = 10
const LONGEST_SECOND_STOP = 1
const MINUTES_APART = 1e-9

export function promiseRows(
  { stops, secondStops, storeProblems }: ChaosRun,
  figures: Figures,
  mostAllowed: number,
): Row[] {
  const { exact, messages, lower, scrapes, mostRequests, early, secrets, characters, undone } = figures
  const aside = Object.entries(exact.aside).map(([reason, calls]) => `${reason} ${calls}`)
  const longest = Math.max(...stops.map(({ seconds }) => seconds))
  return [
    row('after healing, nothing is left to do', undone.length === 0 ? 'yes' : 'no', undone.length === 0, undone),
    row(
      'exact series equal what the simulator recorded',
      `${exact.differences.length} of ${exact.series} differ; set aside: ${aside.join(', ')}`,
      exact.differences.length === 0 && exact.series > 50,
      exact.differences,
    ),
    row(
      'minutes less corrections',
      `relative difference ${exact.minutes.toExponential(1)}`,
      exact.minutes <= MINUTES_APART,
    ),
    row('no counter of calls decreases', `${lower.length} in ${scrapes} scrapes`, lower.length === 0, lower),
    ...Object.entries(messages).map(([receiver, { distinct, lost, duplicates, problems }]) =>
      row(
        `every committed notification is delivered to ${receiver}`,
        `${distinct} messages, ${lost} lost, ${duplicates} repeated after a crash`,
        problems.length === 0,
        problems,
      ),
    ),
    row('requests in any 60 s', `${mostRequests} of ${mostAllowed}`, mostRequests <= mostAllowed),
    row('requests before Retry-After', String(early), early === 0),
    row('secrets in output, answers and store', `${secrets} in ${characters} characters`, secrets === 0),
    row(
      'SIGTERM to exit',
      `${longest.toFixed(1)} s at most of ${stops.length}, codes ${stops.map(({ code }) => code).join(', ')}`,
      longest <= LONGEST_STOP && stops.every(({ code }) => code === 0),
    ),
    row(
      'second SIGTERM to exit',
      `${Math.max(0, ...secondStops).toFixed(1)} s at most of ${secondStops.length}`,
      secondStops.every((seconds) => seconds <= LONGEST_SECOND_STOP),
    ),
    ...storeProblems.map(({ kind, shown, unready, requests, counted, notified, recovered }) =>
      row(
        `store ${kind}`,
        `${shown ? 'shown' : 'NOT SHOWN'}, ${unready ? 'not ready' : 'READY'}, ${notified ? 'notified' : 'NOT NOTIFIED'}, ${requests} requests meanwhile, ` +
          `${counted} counters moved, ${recovered === undefined ? 'NOT RECOVERED' : `recovered in ${recovered.toFixed(1)} s`}`,
        shown && unready && notified && requests > 0 && counted === 0 && recovered !== undefined,
      ),
    ),
  ]
}

export function row(name: string, figure: string, holds: boolean, details: readonly string[] = []): Row {
  return { name, figure, holds, details: details.slice(0, 20) }
}

/** Whether reports over all of the history have what was counted. */
export function reportRow(problems: readonly string[]): Row {
  const figure = `${problems.length} differences`
  return row('reports over all of the history equal the counters', figure, problems.length === 0, [...problems])
}
