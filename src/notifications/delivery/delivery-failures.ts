import type { Failure } from '../../views/state/receiver-status.ts'
import { keyOf } from '../receiver.ts'

/** A receiver, of which there may be several of one name. */
type Named = { name: string; key?: string }

/**
 * What cannot be delivered to each receiver, as this daemon has seen it.
 *
 * @param mask removes secrets
 */
export function deliveryFailures(mask: (text: string) => string) {
  const watched = new Map<string, { name: string; of: () => Failure | undefined }>()
  return {
    watch: (receiver: Named, of: () => Failure | undefined): void =>
      void watched.set(keyOf(receiver), { name: receiver.name, of }),
    /** Of all receivers of this name together. */
    of: (name: string): Failure | undefined => {
      const own = [...watched.values()].filter((one) => one.name === name)
      const failure = together(own.map(({ of }) => of()))
      return failure && { ...failure, problem: mask(failure.problem) }
    },
    /** Call it when another daemon delivers. */
    forget: (receiver: Named): void => void watched.delete(keyOf(receiver)),
    /** Call it when another configuration becomes active. */
    clear: (): void => watched.clear(),
  }
}

/** Nothing can be delivered since the last of them fails. */
function together(all: readonly (Failure | undefined)[]): Failure | undefined {
  const failing = all.filter((one) => one !== undefined).toSorted((a, b) => a.next - b.next)
  const [first] = failing
  if (first === undefined) return undefined
  const { since: _since, ...rest } = first
  const since = all.map((one) => one?.since)
  return {
    ...rest,
    ...(since.every((one) => one !== undefined) && { since: Math.max(...since) }),
    pending: failing.reduce((sum, { pending }) => sum + pending, 0),
    oldest: Math.min(...failing.map(({ oldest }) => oldest)),
  }
}
