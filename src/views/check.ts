import * as z from 'zod'
import { count } from './shapes.ts'

/** What a probe checks of a service, if it works. */
export const CHECKS = [
  'order',
  'page_size',
  'depth',
  'total',
  'requests',
  'fields',
  'values',
  'session_ids',
  'initiated_at',
  'mid',
  'get_call',
  'unknown_id',
  'clock',
  'rate_limit',
  'compression',
  'stopped',
] as const

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
    .array(z.object({ kind: z.enum(['clock_skew', 'empty_for_user']), message: z.string() }))
    .describe('Probable mistakes, although the target works'),
  calls: z.number().optional().describe('In the list, according to the total of the service'),
  clock_skew_seconds: z.number().optional().describe('How far its clock is ahead of the one of this machine'),
  findings: z.array(finding).optional().describe('What its service does, if it works'),
  recording: recording.optional().describe('How many answers it has, and what was replaced in them'),
})
export type Probe = z.output<typeof probe>

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
    store: z.object({ works: z.boolean(), message: z.string() }).optional(),
  }),
])
export type CheckView = z.output<typeof check>
