import { onTestFinished } from 'vitest'

/** How often the time is read, and the most that passes between two reads (milliseconds). */
const [READ_MS, MOST_MS] = [10, 50]

/**
 * Measures for how long this machine ran: while it stands still, or has no processor for this process, none passes. What a process has to
 * do in a time it can do in this one.
 *
 * @returns the seconds since the call
 */
export function runningTime(): () => number {
  let [total, last] = [0, performance.now()]
  const read = () => {
    const now = performance.now()
    total += Math.min(now - last, MOST_MS)
    last = now
    return total / 1000
  }
  const reading = setInterval(read, READ_MS)
  onTestFinished(() => clearInterval(reading))
  return read
}
