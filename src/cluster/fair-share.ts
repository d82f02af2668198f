/**
 * How many targets a daemon has at most: an equal part of them, rounded up. Only what exceeds it moves when a daemon joins,
 * and only what a daemon had when it leaves.
 */
function shareOf(targets: number, members: number): number {
  return Math.ceil(targets / Math.max(1, members))
}

/** How many of its targets a daemon must release, so that the others have their share. */
export function toRelease(own: number, targets: number, members: number): number {
  return Math.max(0, own - shareOf(targets, members))
}

/** How many more it may acquire. */
export function toAcquire(own: number, targets: number, members: number): number {
  return Math.max(0, shareOf(targets, members) - own)
}
