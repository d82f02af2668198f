import { sleep, systemClock, type Clock } from '../clock/clock.ts'

/** So many failures of a peer cost nothing: passwords that it tried, each once. */
const FREE_FAILURES = 5
/** Failures are forgotten so long after the latest one (seconds). */
const MEMORY = 60
/** Each attempt after that waits (seconds): half a second, twice as long each time. */
const FIRST_DELAY = 0.5
const LONGEST_DELAY = 5
/** Peers whose failures are known; beyond that the oldest are forgotten. */
const MOST_PEERS = 10_000

/** Slows down whoever guesses passwords, by the address of the peer. */
export type LoginAttempts = {
  /**
   * Resolves when an attempt of this peer may be looked at; with false where another one of its attempts waits already:
   * many connections at once are no way around the delay.
   */
  admit: (peer: string) => Promise<boolean>
  /** @param guess what it tried: the same again, as a program does whose password is out of date, guesses nothing */
  failed: (peer: string, guess: string) => void
}

/** When to try again after an attempt that was not looked at (seconds). */
export const LOGIN_RETRY_AFTER = LONGEST_DELAY

/** A success forgets nothing: with whom a peer shares its address is not known. */
export function loginAttempts(clock: Clock = systemClock): LoginAttempts {
  const peers = new Map<string, { failures: number; guesses: Set<string>; at: number; isWaiting: boolean }>()
  return {
    admit: async (peer) => {
      const known = peers.get(networkOf(peer))
      if (known === undefined || clock.monotonic() - known.at > MEMORY || known.failures < FREE_FAILURES) return true
      if (known.isWaiting) return false
      known.isWaiting = true
      await sleep(clock, Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (known.failures - FREE_FAILURES)))
      known.isWaiting = false
      return true
    },
    failed: (peer, guess) => {
      const key = networkOf(peer)
      const at = clock.monotonic()
      const known = peers.get(key) ?? { failures: 0, guesses: new Set(), at, isWaiting: false }
      if (at - known.at > MEMORY) {
        known.failures = 0
        known.guesses.clear()
      }
      if (known.guesses.has(guess)) return
      if (known.guesses.size < FREE_FAILURES) known.guesses.add(guess)
      known.failures += 1
      known.at = at
      // The one that failed last is the last to be forgotten.
      peers.delete(key)
      peers.set(key, known)
      if (peers.size > MOST_PEERS) peers.delete(peers.keys().next().value!)
    },
  }
}

/** Whoever has one IPv6 address has the 2^64 of its network as well. */
function networkOf(peer: string): string {
  if (!peer.includes(':') || peer.includes('.')) return peer
  const [start = '', end] = peer.split('::')
  const [head, tail] = [start, end ?? ''].map((part) => (part === '' ? [] : part.split(':')))
  const zeros = end === undefined ? 0 : 8 - head!.length - tail!.length
  return [...head!, ...Array<string>(zeros).fill('0'), ...tail!].slice(0, 4).join(':')
}
