import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { sleep, systemClock, type Clock } from '../clock/clock.ts'

/** A peer's first failures, each with another password, cause no delay. */
const FREE_FAILURES = 5
/** Failures expire this long after the latest one. */
const EXPIRE_AFTER_SECONDS = 60
/** The delay of the first attempt after the free failures; it doubles with each further failure. */
const FIRST_DELAY_SECONDS = 0.5
const MAX_DELAY_SECONDS = 5
/** The most peers whose failures are kept; the oldest are evicted. */
const MAX_PEERS = 10_000

/** Slows down password guessing, by the address of the peer. */
export type LoginAttempts = {
  /**
   * Resolves with true once an attempt of this peer may be checked, and with false if another attempt of the peer is waiting already, so
   * that parallel connections cannot avoid the delay.
   */
  admit: (peer: string) => Promise<boolean>
  /** @param guess a repeated guess counts once: a program with an outdated password guesses nothing */
  failed: (peer: string, guess: string) => void
}

/** When to try again after an attempt that was not checked. */
export const LOGIN_RETRY_AFTER_SECONDS = MAX_DELAY_SECONDS

/** A successful log-in does not clear failures: other clients may have the same address. */
export function loginAttempts(clock: Clock = systemClock): LoginAttempts {
  const peers = new Map<string, { failures: number; guesses: Set<string>; at: number; isWaiting: boolean }>()
  return {
    admit: async (peer) => {
      const known = peers.get(networkOf(peer))
      const isExpired = known !== undefined && clock.monotonic() - known.at > EXPIRE_AFTER_SECONDS
      if (known === undefined || isExpired || known.failures < FREE_FAILURES) return true
      if (known.isWaiting) return false
      known.isWaiting = true
      const delay = Math.min(MAX_DELAY_SECONDS, FIRST_DELAY_SECONDS * 2 ** (known.failures - FREE_FAILURES))
      await sleep(clock, delay)
      known.isWaiting = false
      return true
    },
    failed: (peer, guess) => {
      const key = networkOf(peer)
      const at = clock.monotonic()
      const known = peers.get(key) ?? { failures: 0, guesses: new Set(), at, isWaiting: false }
      if (at - known.at > EXPIRE_AFTER_SECONDS) {
        known.failures = 0
        known.guesses.clear()
      }
      if (known.guesses.has(guess)) return
      if (known.guesses.size < FREE_FAILURES) known.guesses.add(guess)
      known.failures += 1
      known.at = at
      // A Map keeps the order of insertion: the peer that failed last is evicted last.
      peers.delete(key)
      peers.set(key, known)
      if (peers.size > MAX_PEERS) peers.delete(peers.keys().next().value!)
    },
  }
}

/** The /64 of an IPv6 address, all of which usually belongs to one client; any other address as it is. */
export function networkOf(peer: string): string {
  if (!isIPv6(peer)) return peer
  const address = ipaddr.IPv6.parse(peer)
  return address.isIPv4MappedAddress() ? peer : ipaddr.IPv6.networkAddressFromCIDR(`${peer}/64`).toString()
}
