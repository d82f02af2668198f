/** What a daemon tells the others with each renewal of its lease. */
export type MemberStatus = {
  /** Whether it takes its share of the targets. Not while it starts or drains, or has other settings. */
  takesPart: boolean
}

export function writeStatus(status: MemberStatus): string {
  return JSON.stringify(status)
}

/** The status of a daemon that has joined but is still starting. Until it has started, the others keep its share. */
export const STARTING = writeStatus({ takesPart: false })

/**
 * Parses a status, which another version of callwatch may have written. Fields that it does not understand count as missing.
 */
export function readStatus(text: string): MemberStatus {
  const read: unknown = JSON.parse(text)
  const isRefusal = typeof read === 'object' && read !== null && 'takesPart' in read && read.takesPart === false
  return { takesPart: !isRefusal }
}
