import type { World } from './world.ts'

/** The ledger is folded when it has grown by so many lines, and has doubled. */
const FEWEST_NEW_LINES = 2_000

/**
 * Now and then takes from the ledger the lines that say how the figures of a call grew that is over now: later lines say
 * what they came to. Nothing that is asked about this moment or a later one depends on them.
 */
export function foldLedger(world: World): void {
  if (world.ledger.length < 2 * world.foldedLength + FEWEST_NEW_LINES) return
  const isOver = (sessionId: string): boolean => (world.entries.get(sessionId)?.endedMs ?? -Infinity) <= world.nowMs
  world.ledger = world.ledger.filter(({ event, sessionId }) => event !== 'progress' || !isOver(sessionId))
  world.foldedLength = world.ledger.length
}
