import type { z } from 'zod'
import { oneOf } from '../schema/scalars.ts'
import { section } from '../schema/section.ts'
import { variables } from '../schema/variables.ts'

/** The section `log`. */
export const logSection = section({
  level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .prefault('info')
    .describe('Minimum level of logged lines')
    .register(variables, { name: 'CALLWATCH_LOG_LEVEL' }),
})

export type LogConfig = z.output<typeof logSection>
