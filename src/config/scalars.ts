import { z } from 'zod'
import { isLink, isSafeAddress, isSafeBaseAddress } from './web-address.ts'

// The `error` of each kind of value says what was expected; the sentence around it is made in problems-of.ts.

/** A text that is not empty. `expected` tells the user what it is, `test` what it must be like. */
export function text(expected: string, test: (value: string) => boolean = () => true) {
  const error = expected
  return z.string({ error }).min(1, { error, abort: true }).refine(test, { error })
}

/** A number in the file, or a text that holds one (as `${NAME}` and environment variables do). */
function numeric(error: string, value: z.ZodNumber) {
  const digits = /^-?\d+(?:\.\d+)?$/
  return z.codec(z.union([z.number({ error }), z.string({ error }).regex(digits, { error })], { error }), value, {
    decode: Number,
    encode: (number) => number,
  })
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`
  return numeric(error, z.number({ error }).int({ error }).min(min, { error }).max(max, { error }))
}

/** A share, 0 to 1. */
export function ratio() {
  const error = 'a ratio from 0 to 1'
  return numeric(error, z.number({ error }).min(0, { error }).max(1, { error }))
}

/** One of a few words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: `one of ${words.map((word) => `\`${word}\``).join(', ')}` })
}

/** The address of a service that callwatch calls, path prefix included. */
export function baseAddress() {
  return text(
    'an https address without user, query and fragment (plain http is accepted on loopback only)',
    isSafeBaseAddress,
  )
}

/** A whole address that callwatch calls. */
export function address() {
  return text('a valid https address (plain http is accepted on loopback only)', isSafeAddress)
}

/** An address for people. */
export function link() {
  return text('an http or https address', isLink)
}

/** A value that goes into a header of a request: printable ASCII (RFC 9110, section 5.5), no space at the ends. */
export function headerValue(expected: string) {
  return text(`${expected}, of printable ASCII characters`, (value) => /^[!-~](?:[ -~]*[!-~])?$/.test(value))
}
