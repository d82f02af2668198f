import { z } from 'zod'
import { duration } from '../schema/duration.ts'
import { section } from '../schema/section.ts'
import { webhookSection } from './webhooks/webhook-section.ts'

/** The section `events`. Durations are in seconds. */
export const eventsSection = section({
  retention: duration({ min: 60 }).prefault('7d').describe('How long events are kept'),
  participants: z
    .boolean({ error: '`true` or `false`' })
    .prefault(false)
    .describe('Whether events name the participants of calls; `false` erases those in the log'),
  webhooks: z.array(webhookSection).prefault([]).describe('Receivers of events: one signed request per event'),
})
