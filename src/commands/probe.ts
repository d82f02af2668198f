import { systemClock } from '../clock/clock.ts'
import type { PollConfig } from '../polling/poll-section.ts'
import type { TargetConfig } from '../service/target-section.ts'
import { isMap } from '../schema/path.ts'
import { callsClient, rowsOf } from '../service/calls-client.ts'
import { collecting, type Exchange } from '../service/exchange.ts'
import { ServiceError, type ServiceErrorKind } from '../service/service-error.ts'
import { undiciTransport } from '../service/undici-transport.ts'
import { unreadTime } from '../service/wire-call.ts'
import { formatUnreadTime } from '../text/format.ts'
import { NO_CALL_LOGS, type Probe, type ProbeKind } from '../views/commands/check.ts'
import { MAX_SKEW_SECONDS, survey } from './survey.ts'

/**
 * Requests one call from a target's service. If that works, at most seven further requests show what the service does.
 *
 * @param exchanges the answers are added to it
 */
export async function probe(target: TargetConfig, poll: PollConfig, exchanges: Exchange[]): Promise<Probe> {
  const transport = collecting(undiciTransport(target.baseUrl, poll.maxAnswerBytes), exchanges)
  const client = callsClient(transport, {
    ...target,
    ...poll,
    pageSize: 1,
    wall: systemClock.wall,
  })
  const base = { target: target.name }
  try {
    const { serviceTime, hostTime, total, items } = await client.listCalls(1, AbortSignal.timeout(poll.timeout * 1000))
    const calls = total ?? items
    const many = total === undefined && items > 0 ? 'calls' : `${calls} ${calls === 1 ? 'call' : 'calls'}`
    const message = `List Calls works at ${target.baseUrl}; its list has ${calls === 0 ? 'no calls' : many}`
    const warnings = [...clockSkew(serviceTime - hostTime), ...(calls === 0 ? emptyList(target) : [])]
    const skew = Math.round(serviceTime - hostTime)
    const findings = await survey({ target, poll, transport, exchanges })
    warnings.push(...unreadTimes(exchanges))
    return { ...base, works: true, kind: 'works', message, warnings, calls, clock_skew_seconds: skew, findings }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const skew = error.serviceTime === undefined ? undefined : Math.round(error.serviceTime - systemClock.wall())
    return {
      ...base,
      works: false,
      ...explain(error, target, poll.timeout),
      warnings: clockSkew(skew ?? 0),
      ...(skew !== undefined && { clock_skew_seconds: skew }),
    }
  }
}

/** What a failed probe means, and what to check. */
function explain(error: ServiceError, { baseUrl }: TargetConfig, timeout: number): Pick<Probe, 'kind' | 'message'> {
  const { message } = error
  const { host } = new URL(baseUrl)
  const region = /\.call-(us|eu|in)\./.exec(host)?.[1]
  const place = region === undefined ? 'app_id and region' : `app_id and region, which is ${region} here`
  const there = `${message} (${baseUrl})`
  const messages: Partial<Record<ProbeKind, string>> = {
    timeout: `no answer from ${baseUrl} within ${timeout} s; check the network, a firewall or HTTPS_PROXY`,
    auth_only_key: `the key may not list calls; use a key of scope fullAccess, not authOnly; if it is one, a firewall or a proxy in between refuses, or the plan of the app does: ${NO_CALL_LOGS} (${message})`,
    rate_limited: `the key works, but the service refuses more requests for now; lower max_requests_per_minute if this continues (${message})`,
    not_the_service: `${baseUrl} is not the calls service; check ${place}, or base_url (${message})`,
    plan: `${there}; ${NO_CALL_LOGS}`,
    unknown_app: error.kind === 'app' ? there : `${baseUrl} does not exist; check ${place}, or base_url (${message})`,
    no_such_host: `there is no host ${host}; check ${place} or base_url (${message})`,
    connection_refused: `${there}; nothing is listening on that port: check base_url and a firewall`,
    tls: `${there}; check base_url and proxies in between`,
    network: `${there}; check the network and HTTPS_PROXY`,
  }
  const kind = kindOf(error)
  return { kind, message: messages[kind] ?? there }
}

const KINDS: Partial<Record<ServiceErrorKind, ProbeKind>> = {
  timeout: 'timeout',
  auth: 'bad_key',
  scope: 'auth_only_key',
  app: 'unknown_app',
  plan: 'plan',
  rate_limited: 'rate_limited',
  invalid: 'not_the_service',
}
/** Kinds of failed connections. The message of such an error ends with an error code. The first match counts. */
const CONNECTIONS = [
  [/\bENOTFOUND$/, 'no_such_host'],
  [/\bECONNREFUSED$/, 'connection_refused'],
  [/TLS/, 'tls'],
  [/^/, 'network'],
] as const

function kindOf({ kind, status, message }: ServiceError): ProbeKind {
  if (kind === 'network') return CONNECTIONS.find(([pattern]) => pattern.test(message))![1]
  return KINDS[kind] ?? (status === 404 ? 'unknown_app' : 'service')
}

/** @param ahead how far the service's clock is ahead of this machine's (seconds) */
function clockSkew(ahead: number): Probe['warnings'] {
  if (Math.abs(ahead) <= MAX_SKEW_SECONDS) return []
  const size =
    Math.abs(ahead) < 7200 ? `${Math.round(Math.abs(ahead) / 60)} min` : `${Math.round(Math.abs(ahead) / 3600)} h`
  const message =
    `this machine's clock is ${size} ${ahead > 0 ? 'behind' : 'ahead of'} the service's; correct it (NTP), ` +
    'or reminders, silences and certificates use a wrong time'
  return [{ kind: 'clock_skew', message }]
}

/** Calls of which no time can be read. */
function unreadTimes(exchanges: readonly Exchange[]): Probe['warnings'] {
  const time = exchanges.flatMap(({ body }) => rowsOf(body)).find((row) => isMap(row) && unreadTime(row) !== undefined)
  if (!isMap(time)) return []
  return [{ kind: 'unread_times', message: formatUnreadTime(unreadTime(time)!) }]
}

function emptyList({ onBehalfOf }: TargetConfig): Probe['warnings'] {
  if (onBehalfOf === undefined)
    return [{ kind: 'empty_list', message: `the list is empty; if there have been calls, ${NO_CALL_LOGS}` }]
  const message = `the user ${onBehalfOf} sees no calls; check the uid in on_behalf_of, or remove on_behalf_of to see all calls`
  return [{ kind: 'empty_for_user', message }]
}
