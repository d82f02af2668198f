import type { operations, respond } from './answers/answer.ts'
import type { Life } from './calls/life.ts'
import type { Switches, SwitchTable } from './switches.ts'
import type { Entry, World } from './calls/world.ts'

/** How tests extend the simulator, for services that behave more strangely than a demo needs. */
export type Extension = {
  /** Further switches, and existing switches with further values. */
  switches: SwitchTable
  /** Replaces `beginCall`. */
  begin: (world: World, life: Life, order: number, switches: Switches) => void
  /**
   * Called before something happens to a known call. If it returns false, that does not happen, and nothing after it does
   * either.
   */
  happens: (world: World, entry: Entry, happening: string, switches: Switches) => boolean
  /** Replaces answers of operations. */
  operations: Partial<typeof operations>
  /** Replaces `respond`, which answers every request. */
  respond: typeof respond
}
