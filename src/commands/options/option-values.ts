import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { MATCH_KEYS, type AlertMatch } from '../../alerts/match-keys.ts'
import { parseDuration } from '../../schema/duration-text.ts'
import { isLink } from '../../schema/web-address.ts'

// Parsers of option values. Each throws an InvalidArgumentError that says what is expected.

/** @param read returns undefined for a text that has no such value */
function parser<Value>(
  expected: string,
  read: (text: string) => Value | undefined,
  accepts: (value: Value) => boolean = () => true,
): (text: string) => Value {
  return (text) => {
    const value = read(text)
    if (value === undefined || !accepts(value)) throw new InvalidArgumentError(`It must be ${expected}.`)
    return value
  }
}

const number = (text: string) => (text.trim() === '' ? undefined : Number(text))
const digits = (text: string) => (/^\d+$/.test(text) ? Number(text) : undefined)

export const positive = parser('a number above 0', number, (value) => Number.isFinite(value) && value > 0)
export const share = parser('a number from 0 to 1', number, (value) => value >= 0 && value <= 1)
export const percent = parser('a number above 0 and below 100', number, (value) => value > 0 && value < 100)
export const whole = parser('a whole number, 0 or more', digits, Number.isSafeInteger)
export const counted = parser('a whole number from 1 to 1000', digits, (value) => value >= 1 && value <= 1000)
export const port = parser('a port, 65535 at most', whole, (value) => value <= 65_535)

/** An http or https URL. */
export const webAddress = parser('a URL such as http://user:password@127.0.0.1:9464/hooks/simulated', (text) =>
  isLink(text) ? new URL(text) : undefined,
)

/** Seconds of a duration above 0 such as `30m`, `2h` or `7d`. */
export const duration = parser('a duration such as 30m, 2h or 7d', parseDuration, (seconds) => seconds > 0)

const isAnswer = (one: { path?: unknown; status?: unknown; headers?: unknown } | null) =>
  typeof one?.path === 'string' && Number.isInteger(one.status) && typeof one.headers === 'object'

/** The answers of a recording. */
export const recording = parser('a file that `callwatch check --record` has written', (file) => {
  try {
    const { answers } = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(answers) && answers.every(isAnswer) ? answers : undefined
  } catch {
    return undefined
  }
})

/** A whole number, or the seconds of a duration. */
export const numberOrDuration = parser<number | { seconds: number }>(
  'a whole number, 0 or more, or a duration such as 12h or 35d',
  (text) => digits(text) ?? { seconds: parseDuration(text) ?? 0 },
  (value) => (typeof value === 'number' ? Number.isSafeInteger(value) : value.seconds > 0),
)

/** Adds a match such as `target=production` or `alert=~High.*` to the previous matches. */
export function matching(text: string, before: AlertMatch = {}): AlertMatch {
  const [key, value] = text.split(/=(.*)/s)
  const known = MATCH_KEYS.find((name) => name === key)
  if (known === undefined || !value) {
    throw new InvalidArgumentError(
      `It must be name=value or name=~expression, the name one of ${MATCH_KEYS.join(', ')}.`,
    )
  }
  // An alert has one value for each name, so two would never match.
  if (before[known] !== undefined) throw new InvalidArgumentError(`There is a value for ${known} already.`)
  return { ...before, [known]: value.startsWith('~') ? `=${value}` : value }
}

/** Adds names such as `a,b` to the previous names. */
export function names(text: string, before: readonly string[] = []): string[] {
  const found = text.split(',').map((name) => name.trim())
  if (!found.includes('')) return [...before, ...found]
  throw new InvalidArgumentError('It must be a name, or several separated by commas.')
}
