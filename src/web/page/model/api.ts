import type { AlertHistory, AlertView as Alert } from '../../../views/alert.ts'
import type { CallDetails as Details } from '../../../views/call-details.ts'
import type { CallView as Call } from '../../../views/call.ts'
import type { FoundCalls } from '../../../views/found-call.ts'
import type { Report } from '../../../views/report.ts'
import type { SeriesView as CallSeries } from '../../../views/series.ts'
import type { TestNotify } from '../../../views/test-notify.ts'
import type { WatchedRules } from '../../../views/watched-rule.ts'
import type { SilenceView as Silence } from '../../../views/silence.ts'
import type { State as CallwatchState } from '../../../views/state/state.ts'

/* The answers of the API, by the types of the server. */

export type { Alert, AlertHistory, Call, CallSeries, FoundCalls, Report, Silence, WatchedRules }
export type WatchedRule = WatchedRules['rules'][number]
export type { IncidentView as Incident } from '../../../views/incident.ts'
export type { PastAlert } from '../../../views/alert.ts'
export type { ReceiverView as Receiver } from '../../../views/state/receiver-status.ts'
export type { RuleView as Rule } from '../../../views/rule.ts'
export type { FinishedPerMinute as PerMinute, SeriesPoint as Point } from '../../../views/series.ts'
export type { TargetView as Target } from '../../../views/state/target.ts'
export type { WebhookView as Webhook } from '../../../views/state/webhook-status.ts'

type Change = Details['events'][number]['data']
export type CallEvent = { type: string; time: string; data: Exclude<Change, { alert: string }> }
export type CallDetails = Omit<Details, 'events'> & { events: CallEvent[] }

const TIMEOUT_MS = 10_000
/** Reports and series add up all calls of their period. */
const REPORT_TIMEOUT_MS = 120_000

export const getState = (query: string) => request<CallwatchState>(`state?${query}`)
export const getPastAlerts = (query: string, signal?: AbortSignal) =>
  request<AlertHistory>(`alerts?${query}`, { signal })
export const getRules = (query: string) => request<WatchedRules>(`rules?${query}`)
export const getCalls = (query: string, signal?: AbortSignal) =>
  request<{ calls: Call[]; next?: string }>(`calls?${query}`, { signal })
export const getCall = (target: string, call_id: string) =>
  request<CallDetails>(`call?${new URLSearchParams({ target, call_id })}`)
/** The service is asked page after page, with the requests that polls leave. */
export const findCalls = (query: string, signal?: AbortSignal) =>
  request<FoundCalls>(`find?${query}`, { signal }, REPORT_TIMEOUT_MS)
export const getReport = (query: string) => request<Report>(`report?${query}`, {}, REPORT_TIMEOUT_MS)
export const getSeries = (query: string, signal?: AbortSignal) =>
  request<CallSeries>(`series?${query}`, { signal }, REPORT_TIMEOUT_MS)
/** @param id of the silence that is edited; '' adds one */
export const sendSilence = (id: string, body: object) =>
  request<Silence>(id === '' ? 'silences' : `silences/${encodeURIComponent(id)}`, {
    method: id === '' ? 'POST' : 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
/** A receiver may take long to answer. */
export const testNotify = () => request<TestNotify>('test-notify', { method: 'POST' }, REPORT_TIMEOUT_MS)
export const deleteSilence = (id: number) => request<void>(`silences/${id}`, { method: 'DELETE' })

type Options = { method?: string; headers?: Record<string, string>; body?: string; signal?: AbortSignal | undefined }

/** Requests a path of the API. Rejects without a successful answer in time, with the reason as half a sentence. */
async function request<Answer>(path: string, options: Options = {}, timeout = TIMEOUT_MS): Promise<Answer> {
  const inTime = AbortSignal.timeout(timeout)
  const signal = AbortSignal.any([inTime, ...(options.signal === undefined ? [] : [options.signal])])
  try {
    const response = await fetch(`api/v1/${path}`, { ...options, cache: 'no-store', signal })
    const body = response.status === 204 ? undefined : await response.json()
    if (response.ok) return body
    throw new Refused(body.detail)
  } catch (error) {
    if (error instanceof Refused) throw error
    const what = inTime.aborted ? 'did not answer in time' : 'cannot be reached'
    throw new Error(`callwatch ${what}`, { cause: error })
  }
}

/** The server answered with a problem (RFC 9457). */
class Refused extends Error {}
