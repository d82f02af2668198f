import { formatNumber } from '../text/format.ts'
import type { AnySignal } from './signal.ts'
import { signals } from './signals.ts'

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
