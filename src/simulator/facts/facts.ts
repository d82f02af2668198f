import type { Life } from '../life.ts'
import { random } from '../random.ts'
import { bigId } from './big-id.ts'
import { corrected } from './corrected.ts'
import { endedAhead } from './ended-ahead.ts'
import type { Fact } from './fact.ts'
import { farFuture } from './far-future.ts'
import { finalChanged } from './final-changed.ts'
import { labelsChanged } from './labels-changed.ts'
import { nearFuture } from './near-future.ts'
import { numericId } from './numeric-id.ts'
import { redated } from './redated.ts'
import { recordedLate } from './recorded-late.ts'
import { doubled, repeated, reused } from './repeated-id.ts'
import { reopened } from './reopened.ts'
import { setBack } from './set-back.ts'
import { stuck } from './stuck.ts'
import { swift } from './swift.ts'
import { timesReversed } from './times-reversed.ts'
import { unknownLabel } from './unknown-label.ts'
import { unknownStatus } from './unknown-status.ts'
import { vanishedForAWhile } from './vanished-for-a-while.ts'
import { vanished } from './vanished.ts'
import { withoutEndedAt } from './without-ended-at.ts'

/**
 * How calls may be out of the ordinary, by the name that the switch `facts` knows it by, in the order in which they are
 * tried: the first ones change times and statuses that the later ones go by. A new one is a file here and a line.
 */
export const facts = {
  swift,
  unknown_status: unknownStatus,
  unknown_label: unknownLabel,
  numeric_id: numericId,
  near_future: nearFuture,
  far_future: farFuture,
  times_reversed: timesReversed,
  labels_changed: labelsChanged,
  set_back: setBack,
  recorded_late: recordedLate,
  corrected,
  without_ended_at: withoutEndedAt,
  final_changed: finalChanged,
  vanished,
  vanished_for_a_while: vanishedForAWhile,
  stuck,
  reopened,
  ended_ahead: endedAhead,
  big_id: bigId,
  redated,
  doubled,
  repeated,
  reused,
} satisfies Record<string, Fact>

export type FactName = keyof typeof facts

export const factNames = Object.keys(facts).filter(isFactName)

/** Each fact's probability for a call that begins, 0 to 1, absent for 0. They are drawn apart, so a call may have several. */
export type FactProbabilities = Partial<Record<FactName, number>>

/**
 * The life with the facts that chance gives it, and their names. Each call has a stream of its own, with one draw a
 * fact, so that one fact's probability changes nothing about another.
 *
 * @param key tells this call from others of the same seed
 */
export function drawFacts(
  life: Life,
  probabilities: FactProbabilities,
  { seed, key, speed }: { seed: number | string; key: string; speed: number },
): { life: Life; names: FactName[] } {
  const names: FactName[] = []
  if (Object.keys(probabilities).length === 0) return { life, names }
  const stream = random(seed, 'facts', key)
  let drawn = life
  for (const name of factNames) {
    if (stream() >= (probabilities[name] ?? 0)) continue
    const own = random(seed, 'fact', key, name)
    const wait = (low: number, high: number): number =>
      Math.max(1, Math.round(((low + own() * (high - low)) * 1000) / speed))
    const next = facts[name](drawn, { random: own, wait })
    if (!next) continue
    drawn = next
    names.push(name)
  }
  return { life: drawn, names }
}

export function isFactName(name: string): name is FactName {
  return Object.hasOwn(facts, name)
}
