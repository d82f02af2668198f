import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { sleep, systemClock, type Clock } from '../clock/clock.ts'
import { delayAfter } from '../clock/delay-after.ts'

/** A peer's first failures, each with another password, cause no delay. */
const FREE_FAILURES = 5
/** Failures expire this long after the latest one. */
const EXPIRE_AFTER_SECONDS = 60
/** The delay of the first attempt after the free failures; it doubles with each further failure. */
const FIRST_DELAY_SECONDS = 0.5
const MAX_DELAY_SECONDS = 5
/** The most peers whose failures are kept; the oldest are evicted. */
const MAX_PEERS = 10_000

/** When to try again after an attempt that was refused. */
export const LOGIN_RETRY_AFTER_SECONDS = MAX_DELAY_SECONDS

/**
 * Slows down password guessing, by the address of the peer. The result resolves with true once a failed attempt may be answered, and with
 * false if another one of the peer is waiting already, so that parallel connections cannot avoid the delay. A repeated guess counts once:
 * a program with an outdated password guesses nothing. A successful log-in does not clear failures: other clients may have the same
 * address.
 */
export function delayedFailures(clock: Clock = systemClock): (peer: string, guess: string) => Promise<boolean> {
  const peers = new Map<string, { failures: number; guesses: Set<string>; at: number; isWaiting: boolean }>()
  return async (peer, guess) => {
    const key = networkOf(peer)
    const at = clock.monotonic()
    let known = peers.get(key)
    if (known === undefined || at - known.at > EXPIRE_AFTER_SECONDS)
      known = { failures: 0, guesses: new Set(), at, isWaiting: false }
    const { failures } = known
    if (!known.guesses.has(guess)) {
      if (known.guesses.size < FREE_FAILURES) known.guesses.add(guess)
      known.failures += 1
      known.at = at
      // A Map keeps the order of insertion: the peer that failed last is evicted last.
      peers.delete(key)
      peers.set(key, known)
      if (peers.size > MAX_PEERS) peers.delete(peers.keys().next().value!)
    }
    if (failures < FREE_FAILURES) return true
    if (known.isWaiting) return false
    known.isWaiting = true
    await sleep(clock, delayAfter(failures - FREE_FAILURES + 1, FIRST_DELAY_SECONDS, MAX_DELAY_SECONDS))
    known.isWaiting = false
    return true
  }
}

/** The /64 of an IPv6 address, all of which usually belongs to one client; any other address as it is. */
export function networkOf(peer: string): string {
  if (!isIPv6(peer)) return peer
  const address = ipaddr.IPv6.parse(peer)
  return address.isIPv4MappedAddress() ? peer : ipaddr.IPv6.networkAddressFromCIDR(`${peer}/64`).toString()
}
