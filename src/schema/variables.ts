import { z } from 'zod'

/** A variable of the environment that fills a key which the file leaves out. */
export type Variable = {
  name: string
  /** Keys of the same section that make the variable superfluous, besides the key itself and its `_file`. */
  unless?: readonly string[]
}

/** `interval: duration().register(variables, { name: 'CALLWATCH_POLL_INTERVAL' })` is all that a variable needs. */
export const variables = z.registry<Variable>()
