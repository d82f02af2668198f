/**
 * What a daemon tells the others with each renewal of its lease: whether it takes its share of the targets. Not while it starts or
 * drains, or has other settings.
 */
export function writeStatus(takesPart: boolean): string {
  return JSON.stringify({ takesPart })
}

/** The status of a daemon that has joined but is still starting. Until it has started, the others keep its share. */
export const STARTING = writeStatus(false)

/** Reads a status, which another version of callwatch may have written. What it does not understand counts as missing. */
export function takesPart(status: string): boolean {
  const read: unknown = JSON.parse(status)
  return !(typeof read === 'object' && read !== null && 'takesPart' in read && read.takesPart === false)
}
