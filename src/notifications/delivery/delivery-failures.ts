import type { Failure } from '../../views/receiver-status.ts'

/**
 * What cannot be delivered to each receiver, as this daemon has seen it.
 *
 * @param mask removes secrets
 */
export function deliveryFailures(mask: (text: string) => string) {
  const failing = new Map<string, () => Failure | undefined>()
  return {
    /** Call it when another configuration of the receiver becomes active. */
    watch: (receiver: string, of: () => Failure | undefined): void => void failing.set(receiver, of),
    of: (receiver: string): Failure | undefined => {
      const failure = failing.get(receiver)?.()
      return failure && { ...failure, problem: mask(failure.problem) }
    },
    /** Call it when another daemon delivers. */
    forget: (receiver: string): void => void failing.delete(receiver),
  }
}
