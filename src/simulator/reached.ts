/**
 * How often each thing really came about, by kind and name: `fault.reset`, `order.oldest`, `event.vanished`,
 * `fact.swift`, `odd.unusable` and so on. What never came about is not in it.
 */
export type Reached = Map<string, number>

export function reach(reached: Reached, what: string): void {
  reached.set(what, (reached.get(what) ?? 0) + 1)
}
