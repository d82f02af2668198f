import { expect, vi } from 'vitest'
import { readExposition } from '../../../kit/metrics/read-exposition.ts'

/** The counters of calls and minutes by series. None of them may ever fall, whatever happens to a container. */
export type Counters = ReadonlyMap<string, number>

export function readCounters(metrics: string): Counters {
  const families = [...readExposition(metrics).values()]
  const samples = families.flatMap(({ type, samples }) => (type === 'counter' ? samples : []))
  return new Map(
    samples
      .filter(({ name }) => /^callwatch_(calls|participant)/.test(name))
      .map(({ name, labels, value }) => [`${name}${JSON.stringify(labels)}`, value]),
  )
}

/** Those that fell or are no longer there. */
export function fallen(before: Counters, after: Counters): string[] {
  return [...before].flatMap(([series, value]) => {
    const now = after.get(series)
    return now !== undefined && now >= value ? [] : [`${series}: ${value}, then ${now}`]
  })
}

export function started(counters: Counters): number {
  return [...counters].reduce(
    (sum, [series, value]) => (series.startsWith('callwatch_calls_started') ? sum + value : sum),
    0,
  )
}

/** Waits until the daemon at that port has counted more calls than so many. */
export async function countedMoreThan(calls: number, port: number): Promise<Counters> {
  return vi.waitFor(
    async () => {
      const counters = readCounters(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
      expect(started(counters)).toBeGreaterThan(calls)
      return counters
    },
    { timeout: 60_000, interval: 200 },
  )
}
