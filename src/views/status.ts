import * as z from 'zod'
import { alert, alertKeyed } from './alert.ts'
import { incident } from './incident.ts'
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

/** What `callwatch status` takes from the answers of the daemon, whose parts have different names. */
export const heardAnswers = status.pick({ problem: true }).extend({
  targets: z.array(target.pick({ name: true, up: true, problem: true, fault: true, listing: true, warnings: true })),
  receivers: z.array(receiver),
})
export type Heard = z.output<typeof heardAnswers>

/** What the store and the daemon say of now, as `callwatch status --json` prints it. */
export const storedStatus = z.object({
  now: time,
  store: z.string(),
  daemon: z
    .object({
      url: z.string(),
      page: z.string().describe('`http.public_url`, or the same'),
      answers: z.boolean(),
      problem: status.shape.problem,
    })
    .describe('Only the daemon knows why something fails'),
  targets: z.array(
    target.pick({ last_success: true, in_progress: true, problem: true, warnings: true }).extend({
      target: z.string(),
      state: z.enum(['up', 'stale', 'initial sync', 'never polled']),
      lag_seconds: seconds.nullable().describe('Since the last successful poll'),
      firing: count,
    }),
  ),
  incidents: z.array(incident.safeExtend({ runbook_url: z.string().optional() })),
  alerts: z
    .array(alertKeyed.extend({ suppressed: z.array(z.string()).describe('Why it is not notified now, in sentences') }))
    .describe('Those that fire'),
  pending: z
    .array(
      z.object({
        alert: z.string(),
        targets: count,
        fires_at: time.describe('When the first of them fires, if its breach lasts'),
      }),
    )
    .describe('Rules with alerts that do not fire yet'),
  receivers: z.array(receiver),
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
  needs_config: z.boolean().exactOptional().describe('Commands find the configuration only by `--config`'),
  webhooks: z.array(webhook).exactOptional(),
  receivers: z.array(receiver).exactOptional(),
})
export type StateChange = z.output<typeof stateChange>
