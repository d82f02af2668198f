import type { CallRowView as Call } from '../../../events/call-data.ts'
import type { AlertHistory } from '../../../history/alert-history.ts'
import type { UsageReport as Report } from '../../../history/usage.ts'
import type { CallDetails as Details } from '../../api/call.ts'
import type { SeriesView as CallSeries } from '../../api/series.ts'
import type { SilenceView as Silence } from '../../api/silences.ts'
import type { AlertView as Alert } from '../../api/alerts.ts'

/* The answers of the API, by the types of the server. */

export type { Alert, Call, CallSeries, Report, Silence }
export type { WebhookView as Webhook } from '../../../events/webhooks/webhook-views.ts'
export type { PastAlert } from '../../../history/alert-history.ts'
export type { SeriesPoint as Point } from '../../../history/series.ts'
export type { FinishedPerMinute as PerMinute } from '../../api/finished-per-minute.ts'
export type { ReceiverView as Receiver } from '../../api/deliveries.ts'
export type { RuleView as Rule } from '../../api/target-view.ts'
export type { Status } from '../../api/status.ts'
export type { TargetView as Target } from '../../api/target-view.ts'

type Change = Details['events'][number]['data']
export type CallEvent = { type: string; time: string; data: Exclude<Change, { alert: string }> }
export type CallDetails = Omit<Details, 'events'> & { events: CallEvent[] }

const TIMEOUT_MS = 10_000
/** Reports and series add up all calls of their period. */
const REPORT_TIMEOUT_MS = 120_000

/** @param query a match */
export const getAlerts = (query = '') => request<{ alerts: Alert[] }>(`alerts?${query}`)
export const getPastAlerts = (query: string, signal?: AbortSignal) =>
  request<AlertHistory>(`alerts/history?${query}`, { signal })
export const getCalls = (query: string, signal: AbortSignal) =>
  request<{ calls: Call[]; next?: string }>(`calls?${query}`, { signal })
export const getCall = (target: string, id: string) =>
  request<CallDetails>(`calls/${encodeURIComponent(target)}/${encodeURIComponent(id)}`)
export const getReport = (query: string) => request<Report>(`report?${query}`, {}, REPORT_TIMEOUT_MS)
export const getSeries = (query: string, signal: AbortSignal) =>
  request<CallSeries>(`series?${query}`, { signal }, REPORT_TIMEOUT_MS)
/** @param id of the silence that is edited; '' adds one */
export const sendSilence = (id: string, body: object) =>
  request<Silence>(id === '' ? 'silences' : `silences/${encodeURIComponent(id)}`, {
    method: id === '' ? 'POST' : 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
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
    throw new Error(inTime.aborted ? 'callwatch did not answer in time' : 'callwatch cannot be reached', {
      cause: error,
    })
  }
}

/** The server answered with a problem (RFC 9457). */
class Refused extends Error {}
