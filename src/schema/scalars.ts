import { z } from 'zod'
import { reportDuplicates } from './path.ts'
import { isTimezone } from './timezone.ts'
import { isBaseAddress, isLink, isSafeAddress, isSafeBaseAddress } from './web-address.ts'

// The `error` of each kind of value says what was expected; reading/draft.ts makes the sentence around it. `meta` is for
// editors only, through the JSON Schema: what it can say about a value beyond these checks.

/** A text that is not empty. `expected` describes it to the user; `test` checks it. */
export function text(expected: string, test: (value: string) => boolean = () => true) {
  const error = expected
  return z.string({ error }).min(1, { error, abort: true }).refine(test, { error })
}

/** How long a name may be (UTF-16 units). Each metric of a target repeats its name. */
export const LONGEST_NAME = 200
const NAME = `a name of at most ${LONGEST_NAME} characters`

/** The name of something, which appears in labels, log lines and commands. */
export function nameText() {
  return text(`${NAME}, neither blank nor with control characters`, isName)
}

/** The name of a target. Lists of names are separated by commas, so it contains none. */
export function nameOfTarget() {
  return text(
    `${NAME}, without commas, neither blank nor with control characters`,
    (name) => isName(name) && !name.includes(','),
  )
}

/** The name of a rule. An alert's key has its labels in braces after the name, so the name contains no braces. */
export function nameOfRule() {
  return text(
    `${NAME}, neither blank nor with control characters or braces`,
    (name) => isName(name) && !/[{}]/.test(name),
  )
}

/** Also excludes halves of surrogate pairs, and Unicode's line breaks, which end a line in YAML. */
function isName(value: string): boolean {
  return value.length <= LONGEST_NAME && value.trim() !== '' && !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
}

/** A number in the file, or a text with a number, as `${NAME}` and environment variables give it. */
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
  const schema = numeric(error, z.number({ error }).int({ error }).min(min, { error }).max(max, { error }))
  return schema.meta({ multipleOf: 1, minimum: min, maximum: max })
}

/** An amount, 0 or more. */
export function amount(expected = 'a number, 0 or more') {
  return numeric(expected, z.number({ error: expected }).min(0, { error: expected })).meta({ minimum: 0 })
}

/** An amount above 0. */
export function positive(expected: string) {
  return numeric(expected, z.number({ error: expected }).positive({ error: expected })).meta({ exclusiveMinimum: 0 })
}

/** A statistical confidence, above 0.5 and below 1. */
export function confidence() {
  const error = 'a confidence above 0.5 and below 1, such as 0.95'
  const schema = numeric(error, z.number({ error }).gt(0.5, { error }).lt(1, { error }))
  return schema.meta({ exclusiveMinimum: 0.5, exclusiveMaximum: 1 })
}

/** A share, 0 to 1. */
export function ratio() {
  const error = 'a ratio from 0 to 1'
  return numeric(error, z.number({ error }).min(0, { error }).max(1, { error })).meta({ minimum: 0, maximum: 1 })
}

/** A share, or how much it may differ from another one, -1 to 1. */
export function shareOrDifference() {
  const error = 'a ratio from 0 to 1, or a difference from -1'
  return numeric(error, z.number({ error }).min(-1, { error }).max(1, { error })).meta({ minimum: -1, maximum: 1 })
}

/** One of the given words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `one of ${words.map((word) => `\`${word}\``).join(', ')}` })
}

/** Some of the given words, each at most once. */
export function someOf<const Word extends string>(words: readonly Word[]) {
  return eachOnce(oneOf(words))
}

/** A list of texts without duplicates. */
export function eachOnce<Item extends z.ZodType<string>>(item: Item) {
  const schema = z.array(item).superRefine(
    (list: unknown, context) => {
      if (!Array.isArray(list)) return
      reportDuplicates(list, (index, earlier) => {
        const message = `the same as \`[${earlier}]\`; expected each only once`
        context.addIssue({ code: 'custom', path: [index], message, params: { sentence: true } })
      })
    },
    { when: () => true },
  )
  return schema.meta({ uniqueItems: true })
}

/** The IANA name of a time zone. */
export function timezone() {
  return text('the IANA name of a time zone, such as `Europe/Berlin` or `UTC`', isTimezone)
}

/** A time of the day, `HH:MM`, 24 hours. */
export function timeOfDay() {
  return text('a time of the day in quotes, from `00:00` to `23:59`', (value) =>
    /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(value),
  )
}

/** The name of a file that holds a secret. */
export function fileName() {
  return text('the name of a file')
}

const AN_ADDRESS = { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }
const A_SAFE_ADDRESS = {
  pattern: '^[Hh][Tt][Tt][Pp]([Ss]://|://(127\\.|\\[|[Ll][Oo][Cc][Aa][Ll][Hh][Oo][Ss][Tt]))',
}

/** The address of a service that callwatch calls, including the path prefix. In the program without a trailing slash. */
export function baseAddress() {
  return withoutSlash(
    text('an https URL without user, query and fragment (plain http is accepted on loopback only)', isSafeBaseAddress),
  )
}

/** The base address of a service that often runs next to callwatch, and gets no secret from it. */
export function nearbyBaseAddress() {
  return withoutSlash(text('an http or https URL without user, query and fragment', isBaseAddress))
}

function withoutSlash(address: z.ZodString) {
  return z.codec(address.meta(AN_ADDRESS), z.string(), {
    decode: (given) => given.replace(/\/+$/, ''),
    encode: (given) => given,
  })
}

/** A complete address that callwatch calls. */
export function address() {
  return text('a valid https URL (plain http is accepted on loopback only)', isSafeAddress).meta(A_SAFE_ADDRESS)
}

/** An address that people open. */
export function link() {
  return text('an http or https URL', isLink).meta(AN_ADDRESS)
}

/** A value for a request header: printable ASCII (RFC 9110, section 5.5), without spaces at its ends. */
export function headerValue(expected: string) {
  return text(`${expected}, of printable ASCII characters`, (value) => /^[!-~](?:[ -~]*[!-~])?$/.test(value))
}
