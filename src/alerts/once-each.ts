/** A function of an object that never changes, which computes its result once for each. */
export function onceEach<Given extends object, Result>(compute: (of: Given) => Result): (of: Given) => Result {
  const known = new WeakMap<Given, { result: Result }>()
  return (of) => {
    const before = known.get(of) ?? { result: compute(of) }
    known.set(of, before)
    return before.result
  }
}
