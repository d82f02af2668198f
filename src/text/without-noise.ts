/** Significant digits: more than any measured number has, and fewer than a double has. */
const DIGITS = 12

/** A copy of plain data without the noise of floating point: 0.3567 instead of 0.35669999999999996. */
export function withoutNoise<Value>(value: Value): Value
export function withoutNoise(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS))
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutNoise)
  // A page may have 10,000 calls: this takes a third of the time of Object.fromEntries.
  const copy: Record<string, unknown> = { ...value }
  for (const [name, part] of Object.entries(copy))
    if (typeof part === 'number' || typeof part === 'object') copy[name] = withoutNoise(part)
  return copy
}
