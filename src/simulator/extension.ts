import type { operations, respond } from './answers/answer.ts'
import type { Life } from './calls/life.ts'
import type { Switches, SwitchTable } from './switches.ts'
import type { Entry, World } from './calls/world.ts'

/**
 * What a service does besides, or in place of, what is here: all that can be changed from outside. The tests use it for services that
 * are stranger than those of a demo.
 */
export type Extension = {
  /** Further switches, and those of here with further values. */
  switches: SwitchTable
  /** How a call begins, in place of `beginCall`. */
  begin: (world: World, life: Life, order: number, switches: Switches) => void
  /** Called before something happens to a call that is there; false: that does not happen, nor anything after it. */
  happens: (world: World, entry: Entry, happening: string, switches: Switches) => boolean
  /** Other answers of an operation. */
  operations: Partial<typeof operations>
  /** How any request is answered, in place of `respond`. */
  respond: typeof respond
}
