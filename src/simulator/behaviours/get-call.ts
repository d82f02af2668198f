import type { Behaviour } from './behaviour.ts'

/** Switch `getCall`: the call within `data`, or bare. */
export const getCall: Behaviour = {
  single: (body, call, { switches }) => (switches.getCall === 'bare' ? call : body),
}
