import { formatNumber } from '../text/format.ts'
import type { AnySignal } from './signal.ts'
import { signals, type Signal } from './signals.ts'

/** The definition of a signal by its name. A store of a later version may hold a signal that is unknown here. */
export function definitionOf({ name }: { readonly name: string }): AnySignal {
  return signals.find((signal) => signal.name === name) ?? unknownSignal(name)
}

function unknownSignal(name: string): AnySignal {
  return {
    name,
    description: '',
    keys: {},
    unit: 'calls',
    isReplayable: false,
    value: () => undefined,
    inWords: () => name,
    describe: ({ value }) => `${name} is ${formatNumber(value)}`,
  }
}

/** A signal with its settings, as the API shows it. Durations and windows are seconds. */
export function signalView(signal: Signal) {
  return {
    signal: signal.name,
    ...('window' in signal ? { window_seconds: signal.window } : {}),
    ...('reason' in signal ? { reason: signal.reason } : {}),
    ...('media' in signal ? { media: signal.media } : {}),
    ...('minCalls' in signal ? { min_calls: signal.minCalls } : {}),
    ...('limit' in signal ? { limit: signal.limit, timezone: signal.timezone, of: signal.of } : {}),
    ...('longerThan' in signal ? { longer_than_seconds: signal.longerThan } : {}),
  }
}
