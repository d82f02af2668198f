/** What a daemon writes for the others with each renewal of its lease. */
export type MemberStatus = {
  /** It takes its share of the targets; not while it starts or drains, or has other settings. */
  takesPart: boolean
}

export function writeStatus(status: MemberStatus): string {
  return JSON.stringify(status)
}

/** The status of a daemon that has joined and still starts: the others keep its share until then. */
export const STARTING = writeStatus({ takesPart: false })

/** Reads a status, which another version of callwatch may have written: what is not understood counts as missing. */
export function readStatus(text: string): MemberStatus {
  const read: unknown = JSON.parse(text)
  const isRefusal = typeof read === 'object' && read !== null && 'takesPart' in read && read.takesPart === false
  return { takesPart: !isRefusal }
}
