import { factsOnRequest } from './facts-on-request.ts'
import { ordinaryFacts } from './ordinary-facts.ts'
import type { TurnedLife } from './turn.ts'
import { random, type Random } from '../../../../src/simulator/random.ts'

/**
 * An anomaly of a call: makes another life of it; undefined where that call cannot be so. `wait` draws whole
 * milliseconds, at least 1, of a time of so many seconds that passes at the world's speed.
 */
export type Fact = (
  life: TurnedLife,
  context: { random: Random; wait: (lowSeconds: number, highSeconds: number) => number },
) => TurnedLife | undefined

/** Every fact, by its name in the switch `facts`. A new one is an entry at the end of one of the two tables. */
const facts: Record<FactName, Fact> = { ...ordinaryFacts, ...factsOnRequest }

type FactName = keyof typeof ordinaryFacts | keyof typeof factsOnRequest

export const factNames = Object.keys(facts).filter((name): name is FactName => Object.hasOwn(facts, name))

/**
 * The life with the facts that chance gives it, and their names. Each call has a stream of its own, with one draw a
 * fact, so that one fact's probability changes nothing about another.
 *
 * @param probabilities 0 to 1, absent for 0; they are drawn independently, so a call may have several facts
 * @param key tells this call from others of the same seed
 */
export function drawFacts(
  life: TurnedLife,
  probabilities: Partial<Record<FactName, number>>,
  { seed, key, speed }: { seed: number | string; key: string; speed: number },
): { life: TurnedLife; names: FactName[] } {
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
