/** More than any measured number has, and fewer than a double: what remains is noise of additions. */
const DIGITS = 12

/** A replacer of JSON that removes the noise of floating point: 0.3567 in place of 0.35669999999999996. */
export const withoutNoise = <Value>(_key: string, value: Value): Value | number =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(DIGITS)) : value
