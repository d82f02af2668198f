import { formatNumber } from '../text/format.ts'
import { relativeSignal, relativeTo } from './relative.ts'
import type { AnySignal } from './signal.ts'
import { signals } from './signals.ts'

/** The definition of a signal of a rule. A store of a later version may hold a signal that is unknown here. */
export function definitionOf(signal: { readonly name: string }): AnySignal {
  const all = relativeTo(signal) === undefined ? signals : relativeSignals
  return all.find(({ name }) => name === signal.name) ?? unknownSignal(signal.name)
}

const relativeSignals: readonly AnySignal[] = signals.map(relativeSignal)

function unknownSignal(name: string): AnySignal {
  return {
    name,
    description: '',
    keys: {},
    unit: 'calls',
    value: () => undefined,
    inWords: () => name,
    describe: ({ value }) => `${name} is ${formatNumber(value)}`,
  }
}
