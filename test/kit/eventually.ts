import { setTimeout as wait } from 'node:timers/promises'

/** For `vi.waitFor`, which would fail on a busy machine after its one second. */
export const SOON = { timeout: 60_000 }

/** Asks every tenth of a second until there is an answer; what it last threw is the reason when time runs out. */
export async function eventually<T>(ask: () => Promise<T | undefined>, seconds: number): Promise<T> {
  const end = performance.now() + seconds * 1000
  let problem: unknown = new Error('there was no answer')
  while (performance.now() < end) {
    try {
      const answer = await ask()
      if (answer !== undefined) return answer
    } catch (error) {
      problem = error
    }
    await wait(100)
  }
  throw new Error(`not within ${seconds} s`, { cause: problem })
}
