import type { Finish } from '../../ledger/tracked-call.ts'

/** How soon callwatch notices the ends of calls: at first by polls alone, then with webhooks of the service. */
export type Lags = {
  /** @param now UNIX seconds */
  note: (finishes: readonly Finish[], now: number) => void
  /** @param from UNIX seconds, from which on the service sends webhooks */
  withWebhooks: (from: number) => void
  /** One line; undefined before the first end. */
  line: (webhooks: { sent: number; lost: readonly unknown[] }) => string | undefined
}

/** @param begun UNIX seconds; earlier ends do not count */
export function newLags(begun: number): Lags {
  const phases: { name: string; from: number; lags: number[] }[] = [{ name: 'by polls alone', from: begun, lags: [] }]
  return {
    note: (finishes, now) => {
      for (const { at } of finishes) phases.findLast(({ from }) => from <= at)?.lags.push(now - at)
    },
    withWebhooks: (from) => void phases.push({ name: "with the service's webhooks", from, lags: [] }),
    line: ({ sent, lost }) => {
      const medians = phases.flatMap(({ name, lags }) =>
        lags.length === 0 ? [] : [`${lags.toSorted((a, b) => a - b)[lags.length >> 1]!.toFixed(1)} s ${name}`],
      )
      if (medians.length === 0) return undefined
      const came = sent === 0 ? '' : ` (${sent} came, ${lost.length} were lost)`
      return `  lag       half of the ends are noticed within ${medians.join(', ')}${came}`
    },
  }
}
