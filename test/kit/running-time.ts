import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** How often the time is read, and the most that passes between two reads (milliseconds). */
const [READ_MS, MOST_MS] = [10, 50]

/**
 * Measures for how long a process could run: while the machine stands still, or has no processor for it, no time passes. What a process
 * has to do in a time it can do in this one.
 *
 * @returns the seconds since the call
 */
export function runningTime({ pid = process.pid }: { pid?: number | undefined } = {}): () => number {
  let [ran, last, waited] = [0, performance.now(), waitedBy(pid) ?? 0]
  const read = () => {
    const [now, waitedNow] = [performance.now(), waitedBy(pid) ?? waited]
    ran += Math.max(0, Math.min(now - last - (waitedNow - waited), MOST_MS))
    last = now
    waited = waitedNow
    return ran / 1000
  }
  const reading = setInterval(read, READ_MS)
  onTestFinished(() => clearInterval(reading))
  return read
}

/** How long the main thread of a process has waited for a processor (milliseconds); undefined where the system does not say it. */
function waitedBy(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return undefined
  }
}
