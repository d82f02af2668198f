/** The differences between the service's clock and the host's that answers showed (seconds), until one is settled. */
export type Settling = {
  isSettled: boolean
  /** The latest ones that agree with each other. */
  agreeing: number[]
  dated: number
  undated: number
}

/** Seconds. */
const CLOSE = 5
const AGREEING = 5
const MOST = 20

export function newSettling(): Settling {
  return { isSettled: false, agreeing: [], dated: 0, undated: 0 }
}

/**
 * Takes one more answer: before the difference is settled nothing is counted, and each poll asks for the first page
 * alone.
 *
 * @param at by the host's clock, seconds since 1970
 * @param date the Date header; empty where there is none
 */
export function settle(settling: Settling, at: number, date: string): void {
  if (settling.isSettled) return
  if (date === '') {
    settling.undated++
    settling.isSettled = settling.dated === 0 && settling.undated >= AGREEING
    return
  }
  const difference = Date.parse(date) / 1000 - at
  const isClose = (other: number): boolean => Math.abs(other - difference) <= CLOSE
  settling.dated++
  settling.agreeing = settling.agreeing.every(isClose) ? [...settling.agreeing, difference] : [difference]
  settling.isSettled = isClose(0) || settling.agreeing.length >= AGREEING || settling.dated >= MOST
}
