/** The pauses after failures, of one group or of the receiver as a whole. Times are seconds since the start. */
type Pause = { failures: number; unanswered: number; until: number }

const LONGEST_SECONDS = 300
/** After so many attempts without an answer it waits for the longest time. */
const MOST_UNANSWERED = 3

export type ModelPauses = ReturnType<typeof modelPauses>

export function modelPauses() {
  let whole = { failures: 0, unanswered: 0, until: 0 }
  const groups = new Map<string, Pause>()
  const of = (key: string): Pause => groups.get(key) ?? { failures: 0, unanswered: 0, until: 0 }

  function failed({ failures, unanswered }: Pause, at: number, isAnswered: boolean): Pause {
    const without = unanswered + Number(!isAnswered)
    const wait = without >= MOST_UNANSWERED ? LONGEST_SECONDS : Math.min(LONGEST_SECONDS, 2 ** failures)
    return { failures: failures + 1, unanswered: without, until: at + wait }
  }

  return {
    wholeUntil: () => whole.until,
    until: (key: string) => of(key).until,
    /** The receiver could not be reached. */
    unreachable: (at: number): void => void (whole = failed(whole, at, true)),
    failed: (key: string, at: number, isAnswered: boolean): void =>
      void groups.set(key, failed(of(key), at, isAnswered)),
    accepted: (key: string): void => {
      whole = { failures: 0, unanswered: 0, until: 0 }
      groups.delete(key)
    },
    /** Forgets other groups. */
    keep: (isKept: (key: string) => boolean): void => {
      for (const key of groups.keys()) if (!isKept(key)) groups.delete(key)
    },
  }
}
