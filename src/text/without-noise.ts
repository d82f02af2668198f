/** Significant digits: more than any measured number has, and fewer than a double has. */
const DIGITS = 12

/** Plain data without the noise of floating point: 0.3567 instead of 0.35669999999999996. What has none is not copied. */
export function withoutNoise<Value>(value: Value): Value
export function withoutNoise(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS))
  if (!isMap(value)) return value
  let copy: Record<string, unknown> | undefined
  // A status may have ten thousand targets: Object.entries would take four times as long.
  for (const name in value) {
    const part = withoutNoise(value[name])
    if (part !== value[name]) (copy ??= Object.assign(Array.isArray(value) ? [] : {}, value))[name] = part
  }
  return copy ?? value
}

const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
