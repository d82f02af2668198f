/** How long a result is kept at least (milliseconds). */
const KEPT = 5000

/**
 * A function of an object that never changes, which computes its result once for each object that is asked for again and again. Not with a
 * WeakMap: with ten thousand keys, V8 stops for 130 ms at each collection.
 */
export function onceEach<Given extends object, Result extends object | string>(
  compute: (of: Given) => Result,
): (of: Given) => Result {
  let [known, before] = [new Map<Given, Result>(), new Map<Given, Result>()]
  let since = performance.now()
  return (of) => {
    const found = known.get(of)
    if (found !== undefined) return found
    if (performance.now() - since > KEPT) {
      ;[known, before] = [new Map(), known]
      since = performance.now()
    }
    const result = before.get(of) ?? compute(of)
    known.set(of, result)
    return result
  }
}
