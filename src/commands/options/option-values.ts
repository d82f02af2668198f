import { InvalidArgumentError } from 'commander'
import { MATCH_KEYS, type AlertMatch } from '../../alerts/match-keys.ts'
import { parseDuration } from '../../schema/duration-text.ts'
import { isLink } from '../../schema/web-address.ts'

// Parsers of option values. Each throws an InvalidArgumentError that says what is expected.

export function positive(text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a number above 0.')
}

export function share(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= 0 && value <= 1) return value
  throw new InvalidArgumentError('It must be a number from 0 to 1.')
}

export function whole(text: string): number {
  const value = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value
  throw new InvalidArgumentError('It must be a whole number, 0 or more.')
}

/** An http or https URL. */
export function url(text: string): string {
  if (isLink(text)) return text
  throw new InvalidArgumentError('It must be a URL such as https://callwatch.example/runbooks.')
}

export function port(text: string): number {
  const value = whole(text)
  if (value <= 65_535) return value
  throw new InvalidArgumentError('It must be a port, 65535 at most.')
}

export function webAddress(text: string): URL {
  const url = URL.parse(text)
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url
  throw new InvalidArgumentError('It must be a URL such as http://user:password@127.0.0.1:9464/hooks/simulated.')
}

/** Seconds of a duration above 0 such as `30m`, `2h` or `7d`. */
export function duration(text: string): number {
  const seconds = parseDuration(text)
  if (seconds !== undefined && seconds > 0) return seconds
  throw new InvalidArgumentError('It must be a duration such as 30m, 2h or 7d.')
}

const MAX_PAST_DAYS = 90

/** Seconds of a duration of days, from `1d` to `90d`. */
export function past(text: string): number {
  const seconds = parseDuration(text)
  if (seconds !== undefined && seconds >= 86_400 && seconds <= MAX_PAST_DAYS * 86_400) return seconds
  throw new InvalidArgumentError(`It must be a duration from 1d to ${MAX_PAST_DAYS}d, such as 35d.`)
}

/** A whole number, or the seconds of a duration. */
export function numberOrDuration(text: string): number | { seconds: number } {
  if (/^\d+$/.test(text)) return whole(text)
  const seconds = parseDuration(text)
  if (seconds !== undefined && seconds > 0) return { seconds }
  throw new InvalidArgumentError('It must be a whole number, 0 or more, or a duration such as 12h or 35d.')
}

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
