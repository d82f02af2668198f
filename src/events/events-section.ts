import type { z } from 'zod'
import { duration } from '../schema/duration.ts'
import { section } from '../schema/section.ts'

/** The section `events`. Durations are in seconds. */
export const eventsSection = section({
  retention: duration({ min: 60 })
    .prefault('7d')
    .describe('How long events are kept: a reader that is away for longer misses some'),
})

export type EventsConfig = z.output<typeof eventsSection>
