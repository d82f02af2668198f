/**
 * The most targets that a daemon owns: an equal share, rounded up. So only the excess moves when a daemon joins, and only the
 * targets of a daemon that leaves.
 */
function shareOf(targets: number, members: number): number {
  return Math.ceil(targets / Math.max(1, members))
}

/** How many of its targets a daemon must release so that others get their share. */
export function toRelease(own: number, targets: number, members: number): number {
  return Math.max(0, own - shareOf(targets, members))
}

/** How many more targets a daemon may acquire. */
export function toAcquire(own: number, targets: number, members: number): number {
  return Math.max(0, shareOf(targets, members) - own)
}
