import * as z from 'zod'
import { alert, alertKeyed } from './alert.ts'
import { incident, incidents } from './incident.ts'
import { receiver } from './receiver-status.ts'
import { finishedPerMinute } from './series.ts'
import { count, namedObject, seconds, time } from './shapes.ts'
import { silence } from './silence.ts'
import { target } from './target.ts'
import { webhook } from './webhook-status.ts'

/** All targets as they are now. */
export const status = namedObject('Status', {
  version: z.string(),
  now: time,
  problem: z.string().optional().describe('Why this daemon can own no target'),
  targets: z.array(target),
})
export type Status = z.output<typeof status>

/** What the store says of now, as `callwatch status --json` prints it. */
export const storedStatus = z.object({
  now: time,
  store: z.string(),
  targets: z.array(
    target.pick({ last_success: true, in_progress: true }).extend({
      target: z.string(),
      state: z.enum(['up', 'stale', 'never polled']),
      lag_seconds: seconds.nullable().describe('Since the last successful poll'),
      firing: count,
    }),
  ),
  incidents: incidents.shape.incidents,
  alerts: z.array(alertKeyed).describe('Those that fire'),
  receivers: z.array(receiver.pick({ name: true, pending: true, oldest_pending_seconds: true })),
})
export type StoredStatus = z.output<typeof storedStatus>

/** What the page hears of now: at first all of it, then what has changed. */
export const stateChange = status.pick({ version: true, now: true }).extend({
  problem: z.string().nullable().exactOptional().describe('Null if this daemon can own targets'),
  names: z.array(z.string()).exactOptional().describe('All targets, in their order'),
  targets: z.array(z.object({ target, alerts: z.array(alert) })),
  minutes: finishedPerMinute.shape.targets,
  since: z.string().exactOptional().describe('When the first of the minutes begins'),
  incidents: z.array(incident).exactOptional(),
  silences: z.array(silence).exactOptional(),
  read_only: z.boolean().exactOptional(),
  webhooks: z.array(webhook).exactOptional(),
  receivers: z.array(receiver).exactOptional(),
})
export type StateChange = z.output<typeof stateChange>
