import { z } from 'zod'
import { DURATION_FORM as form, formatDuration, parseDuration } from './duration-text.ts'

/** A duration in the file, seconds in the program. `min` and `max` are seconds. Without `min`, it must be above 0. */
export function duration(limits: { min?: number; max?: number } = {}) {
  const { min = 0.001, max = 3650 * 86_400 } = limits
  const isAnyAboveZero = limits.min === undefined
  const range = isAnyAboveZero
    ? `above 0 and at most ${formatDuration(max)}`
    : `${min === 0 ? '0' : formatDuration(min)} to ${formatDuration(max)}`
  const error = `a duration such as \`15s\`, \`5m\`, \`24h\` or \`7d\`, ${range}`
  // For editors: see scalars.ts.
  const shown = { examples: ['15s', '5m', '24h', '7d'], ...(min > 0 && { not: { enum: [0, '0'] } }) }
  return z.codec(
    z.union([z.string({ error }).regex(form, { error }), z.literal(0, { error })], { error }).meta(shown),
    z.number({ error }).min(min, { error }).max(max, { error }),
    {
      decode: (value) => (typeof value === 'string' ? (parseDuration(value) ?? Number.NaN) : value),
      encode: formatDuration,
    },
  )
}

/** Seconds, given as a number or a duration, 0 or more. */
export function seconds() {
  const error = 'seconds or a duration such as `5m`, 0 or more'
  const digits = /^\d+(?:\.\d+)?$/
  const text = z.string({ error }).refine((value) => form.test(value) || digits.test(value), { error })
  const shown = { minimum: 0, pattern: `${form.source}|${digits.source}`, examples: ['30s', 30] }
  const written = z.union([text, z.number({ error })], { error }).meta(shown)
  return z.codec(written, z.number({ error }).min(0, { error }), {
    decode: (value) => (typeof value === 'string' ? (parseDuration(value) ?? Number(value)) : value),
    // A value that is no exact duration stays a number.
    encode: (value) => (parseDuration(formatDuration(value)) === value ? formatDuration(value) : value),
  })
}

/** The longest duration that a timer of the runtime can hold (2^31 milliseconds, 24.8 days), in seconds. */
export const longestTimer = 24 * 86_400
