/**
 * How many targets a daemon has at most: an equal part of them, rounded up. Only what is over it moves when a daemon joins,
 * and only what a daemon had when it leaves.
 */
function shareOf(targets: number, members: number): number {
  return Math.ceil(targets / Math.max(1, members))
}

/** How many a daemon that has so many of the targets is to let go, so that others have theirs. */
export function lettingGo(own: number, targets: number, members: number): number {
  return Math.max(0, own - shareOf(targets, members))
}

/** How many more it may take. */
export function taking(own: number, targets: number, members: number): number {
  return Math.max(0, shareOf(targets, members) - own)
}
