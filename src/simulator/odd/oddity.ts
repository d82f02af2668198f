import type { Random } from '../random.ts'

/** What the wire says of a call. */
export type Wire = Record<string, unknown>

export type OddityContext = {
  random: Random
  /** A list counts what cannot be used; Get Call is told which call was asked for, and there only the status may fail. */
  operation: 'list' | 'get'
}

/** Says otherwise what the wire says of a call, in one answer only; never changes what it is given. */
export type Oddity = (wire: Wire, context: OddityContext) => unknown
