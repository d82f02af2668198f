import * as z from 'zod'
import { livesOf, type Alert, type LiveAlert } from '../alerts/alert.ts'
import type { Suppression } from '../alerts/episode.ts'
import type { IncidentId, Incident } from '../alerts/incidents.ts'
import type { Silence } from '../alerts/match.ts'
import { isoTime } from '../clock/times.ts'
import { runbookOfAll } from '../alerts/text/incident-text.ts'
import { withoutNoise } from '../text/without-noise.ts'
import { alert, alertView } from './alert.ts'
import { incident, incidentView } from './incident.ts'
import { receiver, receiverView, type Failure } from './receiver-status.ts'
import { finishedPerMinute } from './series.ts'
import { namedObject, time } from './shapes.ts'
import type { ShownTarget } from './shown-target.ts'
import { silence, silenceView } from './silence.ts'
import { otherTargetView, type OtherTarget } from './overview.ts'
import { target, targetView } from './target.ts'
import { webhook, type WebhookView } from './webhook-status.ts'

/** How callwatch is now. */
export const state = namedObject('State', {
  version: z.string(),
  now: time,
  problem: z.string().nullable().describe('Why this daemon can own no target'),
  targets: z.array(target).describe('In the order of the configuration'),
  incidents: z.array(incident).describe('What fires, the alerts of each group together, the worst first'),
  alerts: z.array(alert).describe('Pending, firing and recovering ones, by target'),
  receivers: z.array(receiver),
  webhooks: z.array(webhook).exactOptional().describe('Of events; absent until the store can be read'),
  silences: z
    .array(silence)
    .exactOptional()
    .describe('Those that are active, or expired in the last seven days; absent until the store can be read'),
  read_only: z.boolean().describe('Silences cannot be changed: http.auth is missing'),
  can_find: z.boolean().describe('`/api/v1/find` answers: http.auth and http.find are set'),
  needs_config: z.boolean().describe('Commands find the configuration only by `--config`'),
})
export type State = z.output<typeof state>

const { problem, incidents, receivers, webhooks, silences, read_only, can_find, needs_config } = state.shape

/**
 * What the page hears of the state: at first all of it, then what has changed. A target that has changed comes with all of its alerts.
 */
export const stateChange = state.pick({ version: true, now: true, targets: true, alerts: true }).extend({
  problem: problem.exactOptional(),
  incidents: incidents.exactOptional(),
  receivers: receivers.exactOptional(),
  webhooks,
  silences,
  read_only: read_only.exactOptional(),
  can_find: can_find.exactOptional(),
  needs_config: needs_config.exactOptional(),
  names: z.array(z.string()).exactOptional().describe('All targets, in their order'),
  minutes: finishedPerMinute.shape.targets,
  since: z.string().exactOptional().describe('When the first of the minutes begins'),
})
export type StateChange = z.output<typeof stateChange>

/** What the state is made of. Times are UNIX seconds by the host's clock. */
export type StateModel = {
  version: string
  now: number
  problem: string | undefined
  /** The targets of the configuration, in its order, of which some may not be known yet. */
  names: readonly string[]
  own: readonly ShownTarget[]
  others: readonly OtherTarget[]
  incidents: readonly Incident[]
  /** The address of the pages of runbooks, where it is known. */
  runbooks: string | undefined
  groupOf: (alert: Alert) => Pick<IncidentId, 'labels'>
  suppressed: (alerts: readonly LiveAlert[], active: readonly Silence[]) => ReadonlyMap<string, readonly Suppression[]>
  /** What was evaluated before is old. */
  freshFrom: number
  receivers: readonly { name: string; failure: Failure | undefined }[]
  /** Undefined until the store could be read. */
  webhooks: readonly WebhookView[] | undefined
  silences: readonly Silence[] | undefined
  readOnly: boolean
  canFind: boolean
  needsConfig: boolean
}

/** The state, without noise of floating point. */
export function stateView(model: StateModel): State {
  const { version, now, own, others, webhooks, silences, freshFrom, runbooks } = model
  const active = silences?.filter(({ until }) => until > now) ?? []
  const lives = new Map([...own, ...others].map((each) => [each.name, livesOf([each])]))
  const suppressed = model.suppressed([...lives.values()].flat(), active)
  const views = new Map([
    ...own.map((each) => [each.name, targetView(each)] as const),
    ...others.map((each) => [each.name, otherTargetView(each, now)] as const),
  ])
  const inOrder = <Of>(of: ReadonlyMap<string, Of>) => model.names.flatMap((name) => of.get(name) ?? [])
  return {
    version,
    now: isoTime(now),
    problem: model.problem ?? null,
    targets: inOrder(views),
    ...withoutNoise({
      incidents: model.incidents.map((each) => ({
        ...incidentView(each),
        runbook_url: runbookOfAll(each.alerts, runbooks),
      })),
      alerts: inOrder(lives)
        .flat()
        .map((live) => alertView(live, model.groupOf, active, suppressed, freshFrom)),
      receivers: model.receivers.map((each) => receiverView(each, now)),
      ...(webhooks && { webhooks: [...webhooks] }),
      ...(silences && { silences: silences.map(silenceView) }),
    }),
    read_only: model.readOnly,
    can_find: model.canFind,
    needs_config: model.needsConfig,
  }
}
