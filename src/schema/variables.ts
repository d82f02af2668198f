import { z } from 'zod'

/** A variable of the environment that fills a key if the file omits it. */
export type Variable = {
  name: string
  /** Keys of the same section that make the variable superfluous, besides the key itself and its `_file`. */
  unless?: readonly string[]
}

/** To add a variable, register it: `interval: duration().register(variables, { name: 'CALLWATCH_POLL_INTERVAL' })`. */
export const variables = z.registry<Variable>()
