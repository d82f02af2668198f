import * as z from 'zod'
import { count } from '../shapes.ts'

/** What a probe checks of a service, if it works, and what it means for the counts if the service does not do what callwatch prefers. */
export const MEANINGS = {
  order: 'each poll reads the whole list, and counts every call nevertheless',
  page_size: 'a sweep takes another number of requests, and counts the same',
  depth: 'callwatch requests older open calls one by one, and does not see late corrections of others',
  total: 'callwatch cannot use it: a call that appears far back in the list is counted by the next sweep, not before',
  requests: 'polls take longer than their interval, and calls are counted late',
  fields: 'callwatch does not read them, and no count uses them',
  values: 'callwatch counts them as other; if one is a spelling of a status, add it to poll.status_map',
  session_ids: 'callwatch counts each call of them, and gives the second and later ones ids of its own (call_id)',
  initiated_at: 'a call without it has no answer delay, and its duration includes the ringing',
  ended_at:
    'callwatch takes when the last participant left, startedAt and totalDuration, or initiatedAt for the end of a call without it',
  meeting_ids: 'webhooks name these with that prefix, too',
  mid: 'only their starts tell calls of one session apart',
  get_call: 'callwatch cannot read it: a call that leaves the list stays open until a sweep shows it',
  unknown_id: 'callwatch does not learn that the service deleted a call: the call stays open',
  clock: 'callwatch uses the clock of the service, or without a Date that of this machine',
  rate_limit: 'callwatch sends up to max_requests_per_minute, whatever your other programs need',
  compression: 'the counts are the same, but answers are longer',
  webhooks:
    "check in the service's dashboard: the URL, user name and password; whether the app has the legacy webhooks, which tell nothing of calls, in place of the new ones; whether the box of each trigger is checked; and whether the plan of the app includes webhooks",
  stopped: 'nothing more was requested; the other lines show what the answers before it did',
}

/** What may be wrong if the list is empty or refused. */
export const NO_CALL_LOGS =
  'call logs are themselves a feature of a plan: check whether the plan of the app includes them'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
const CHECKS = Object.keys(MEANINGS) as readonly (keyof typeof MEANINGS)[]

const PROBE_KINDS = [
  'works',
  'service',
  'timeout',
  'bad_key',
  'auth_only_key',
  'unknown_app',
  'plan',
  'rate_limited',
  'not_the_service',
  'no_such_host',
  'connection_refused',
  'tls',
  'network',
] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]

const finding = z.object({
  check: z.enum(CHECKS),
  result: z.enum(['ok', 'notice', 'not_checked']),
  message: z.string(),
})
/** What the service does in one respect. The message of a `notice` ends with what it means for the counts. */
export type Finding = z.output<typeof finding>

const recording = z.object({
  file: z.string(),
  answers: count,
  replaced: z.object({ ids: count, texts: count, keys: count, numbers: count, times: count }),
})

/** The result of the requests to a target. */
const probe = z.object({
  target: z.string(),
  works: z.boolean(),
  kind: z.enum(PROBE_KINDS),
  message: z.string().describe('A sentence that also says what to do'),
  warnings: z
    .array(
      z.object({ kind: z.enum(['clock_skew', 'empty_for_user', 'empty_list', 'unread_times']), message: z.string() }),
    )
    .describe('Probable mistakes, although the target works'),
  calls: z.number().optional().describe('In the list, according to the total of the service'),
  clock_skew_seconds: z.number().optional().describe('How far its clock is ahead of the one of this machine'),
  findings: z.array(finding).optional().describe('What its service does, if it works'),
  recording: recording.optional().describe('How many answers it has, and what was replaced in them'),
})
export type Probe = z.output<typeof probe>

const heartbeat = z.object({ receiver: z.string(), works: z.boolean(), message: z.string() })
/** The result of a request of a heartbeat. */
export type HeartbeatProbe = z.output<typeof heartbeat>

const problem = z.object({
  path: z.string().describe('The place in the file, the name of the variable, or `file:line:column`'),
  place: z.string().exactOptional().describe('In the file, as `file:line:column`'),
  message: z.string().describe('What was found and what was expected; never the value of a secret'),
})

/** The output of `check --json`. It has the probes and the store only with `--probe` and `--store`. */
export const check = z.union([
  z.object({ valid: z.literal(false), problems: z.array(problem) }),
  z.object({
    valid: z.literal(true),
    warnings: z.array(z.string()),
    config: z.unknown(),
    probes: z.array(probe).optional(),
    heartbeats: z.array(heartbeat).optional(),
    store: z.object({ works: z.boolean(), message: z.string() }).optional(),
  }),
])
export type CheckView = z.output<typeof check>
