import type { Logged } from './play.ts'

/** Of two groups that are as severe and were never tried either may be first, and retries follow from that (seconds). */
const APART = 2

/** A message without its second: `r0 changed +t1/AW -t0/AW ~t2/B`. */
export function textOf({ receiver, kind, begins, ends, was }: Logged): string {
  const names = (list: readonly string[]) => [...new Set(list)].join(',')
  return `${receiver} ${kind} +${names(begins)} -${names(ends)} ~${names(was)}`
}

export const lineOf = (one: Logged): string => `${one.at} ${textOf(one)}`

/** The messages that only one of two logs has: those of the first one with `-`, those of the second one with `+`. */
export function differences(first: readonly Logged[], second: readonly Logged[]): string[] {
  const rest = [...second]
  const missing = first.filter((one) => {
    const index = rest.findIndex((other) => textOf(other) === textOf(one) && Math.abs(other.at - one.at) <= APART)
    if (index >= 0) rest.splice(index, 1)
    return index === -1
  })
  const signed = [...missing.map((one) => ({ one, sign: '-' })), ...rest.map((one) => ({ one, sign: '+' }))]
  return signed.toSorted((a, b) => a.one.at - b.one.at).map(({ one, sign }) => `${sign} ${lineOf(one)}`)
}
