import { expect } from 'vitest'
import { apply, type LedgerState } from '../../../src/ledger/state.ts'
import { step } from '../../../src/ledger/step.ts'
import type { Store, TargetIdentity } from '../../../src/store/store.ts'
import { completeLook, contents, CREATED, seen } from '../../ledger/seen.ts'
import { DAY, NO_ALERTS, OPTIONS } from './place.ts'

export const B = { name: 'b', fingerprint: 'y' }

/** A target of which these calls are over: by `remembered` some are remembered, all others are history only. */
export async function filled(
  store: Store,
  target: TargetIdentity,
  ended: Record<string, number>,
  remembered: string[] = [],
): Promise<LedgerState> {
  const { ledger } = await store.openTarget(target, CREATED, DAY)
  const calls = Object.entries(ended).map(([id, at]) => seen(id, 'ended', { endedAt: CREATED + at }))
  const first = step(ledger, completeLook(2000, ...calls), OPTIONS)!
  await store.commit(target.name, { ledger: first, alerts: NO_ALERTS, outgoing: [] })
  apply(ledger, first, DAY)
  const forgotten = [...first.calls.values()].filter(({ id }) => !remembered.includes(id))
  const second = { ...step(ledger, completeLook(2001), OPTIONS)!, forgotten }
  await store.commit(target.name, { ledger: second, alerts: NO_ALERTS, outgoing: [] })
  apply(ledger, second, DAY)
  expect([...contents(ledger).calls.keys()]).toEqual(remembered)
  return ledger
}

/** Each call with its target and when it finished (seconds after the set-up). */
export const told = (history: Awaited<ReturnType<Store['finishedCalls']>>): string[] =>
  history.map(({ target, call }) => `${target} ${call.id} ${call.finish!.at - CREATED}`)

/** As many calls as that, which were over a tenth of a second after each other. */
export const many = (number: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: number }, (_, i) => [`call ${i}`, 1 + i / 10]))
