import { countedCalls, labelsOf, type CountOptions } from '../../../../src/simulator/expected/counted-calls.ts'
import {
  expectedSeries as plainSeries,
  addTo,
  type Series,
} from '../../../../src/simulator/expected/expected-series.ts'
import type { LedgerEvent } from '../../../../src/simulator/calls/ledger.ts'
import { plainEvents, withoutEarlyEnds } from './plain-events.ts'

type Options = CountOptions & {
  /** The calls to leave out, by their ids in the ledger, such as those that `setAside` names. */
  except?: ReadonlySet<string>
}

/**
 * Every exact series that a correct daemon exports at `now`, from what happened in an adversarial world. Minutes are less
 * corrections: where a final call's minutes fell, compare sums after subtracting them. A call that has vanished while it was
 * open has started and is neither finished nor in progress. Series of value 0 are left out.
 */
export function expectedSeries(events: readonly LedgerEvent[], options: Options): Series {
  const { now, baseline, created, except } = options
  const until = events.filter(({ at, call }) => at <= now && !except?.has(call))
  const plain = withoutEarlyEnds(plainEvents(until), baseline === 'skip' ? created : -Infinity)
  const series = plainSeries(plain, options)
  for (const { final, last } of countedCalls(plain, options)) {
    if (final || last.event !== 'vanished') continue
    addTo(series, 'callwatch_calls_in_progress', { ...labelsOf(last), status: last.status }, -1)
  }
  for (const [name, value] of series) if (value === 0) series.delete(name)
  return series
}
