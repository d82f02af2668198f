import { earlierBy } from '../clock/calendar.ts'
import { formatNumber, formatOfUsual, formatRelative, plural } from '../text/format.ts'
import type { RuleOn } from './rule-keys.ts'
import { formatIn, inWindow, median, windowOf, type AnySignal, type Measurement, type Window } from './signal.ts'

/** A value beside those of the same window at the same time of earlier days or weeks, in the signal's unit. */
export type Compared = {
  now: number
  /** The latest first. */
  earlier: readonly number[]
  /** The median of `earlier`. */
  expected: number
}

/** How many earlier windows `relative_to` compares with. */
const COMPARED_WINDOWS = 4

/** With fewer calls then, there is no result; default of `min_calls_then`. */
const MIN_CALLS_THEN = 20

/** By how much earlier its values are that a rule's value is compared with (seconds); undefined if it has no `relative_to`. */
export function relativeTo(signal: object): number | undefined {
  return 'relativeTo' in signal && typeof signal.relativeTo === 'number' ? signal.relativeTo : undefined
}

type Comparing = Pick<RuleOn<object>, 'signal' | 'onlyIf'>

/** The window of `only_if` at a time. */
export function windowOfOnlyIf({ signal, onlyIf }: Comparing, now: number): Window | undefined {
  return onlyIf && earlierWindow(signal, now, onlyIf.offset)
}

/** The windows that `relative_to` compares with at a time, the latest first. */
export function windowsThen({ signal }: Comparing, now: number): Window[] {
  const offset = relativeTo(signal)
  if (offset === undefined) return []
  return Array.from({ length: COMPARED_WINDOWS }, (_, i) => earlierWindow(signal, now, (i + 1) * offset))
}

/** The length of a rule's window, at the same time of the day so many seconds earlier. */
function earlierWindow(signal: object, now: number, offset: number): Window {
  const zone = 'timezone' in signal && typeof signal.timezone === 'string' ? signal.timezone : undefined
  const to = earlierBy(now, offset, zone)
  return { from: to - (windowOf(signal) ?? 0), to }
}

/** How far back the earlier windows of a rule begin (seconds). */
export function earlierReach({ signal, onlyIf }: Comparing): number {
  const offset = Math.max(onlyIf?.offset ?? 0, COMPARED_WINDOWS * (relativeTo(signal) ?? 0))
  // A day on which the clocks change has an hour more.
  return offset === 0 ? 0 : offset + (windowOf(signal) ?? 0) + 3600
}

/** Compares a value with those of earlier windows; undefined if these had too few calls. */
export function comparedWith(then: readonly Measurement[], now: number, signal: object): Compared | undefined {
  const least =
    'minCallsThen' in signal && typeof signal.minCallsThen === 'number' ? signal.minCallsThen : MIN_CALLS_THEN
  const values = then.map(({ value }) => value).filter(Number.isFinite)
  const expected = median(values)
  if (expected === undefined || median(then.map(({ calls = 0 }) => calls))! < least) return undefined
  return { now, earlier: values, expected }
}

/**
 * A signal as rules with `relative_to` use it: it is measured in the same way, but its value is the ratio to what is expected or, of a
 * share, which may be expected to be 0, the difference.
 */
export function relativeSignal(own: AnySignal): AnySignal {
  const isDifference = own.unit === 'share'
  const name = own.name.replaceAll('_', ' ')
  const format = (value: number) => formatRelative(value, isDifference)
  const absolute = (value: number) => (own.unit === 'calls' ? formatNumber(value) : formatIn(own.unit, value))
  return {
    ...own,
    unit: 'share',
    relate: ({ now, expected }) => (isDifference ? now - expected : now / expected),
    needsNoThreshold: () => true,
    format: (value) => formatOfUsual(value, isDifference),
    describe: ({ value, compared: { now, earlier } = { now: NaN, earlier: [] } }, signal) =>
      `${name}: ${absolute(now)} ${inWindow(signal)}, ${format(value)} ${sameTime(signal, earlier.length)} (${earlier.map(absolute).join(', ')})`,
    inWords: ({ signal, threshold, breach }) => {
      const isAbove = threshold >= (isDifference ? 0 : 1)
      const than = isAbove === (breach === 'above') ? 'more than' : 'less than'
      return `${name} ${inWindow(signal)}: ${than} ${format(threshold)} ${sameTime(signal)}`
    },
  }
}

const UNITS = [
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const

/** `the same time in the last 4 weeks`. */
function sameTime(signal: object, windows = COMPARED_WINDOWS): string {
  const offset = relativeTo(signal) ?? 0
  const [unit, length] = UNITS.find(([, seconds]) => offset % seconds === 0) ?? UNITS[0]
  const number = (windows * offset) / length
  return `the same time in the last ${number === 1 ? unit : plural(number, unit)}`
}
