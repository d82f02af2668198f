/**
 * The responses of the API, by the types of the server.
 *
 * @typedef {import('../../target-view.ts').TargetView} Target
 * @typedef {import('../../views.ts').AlertView} Alert
 * @typedef {import('../../../events/call-data.ts').CallRowView} Call
 * @typedef {import('../../../events/types.ts').CallChange} CallChange
 * @typedef {import('../../../events/types.ts').AlertChange} AlertChange
 * @typedef {import('../../silences-route.ts').SilenceView} Silence
 * @typedef {import('../../../events/webhooks/webhook-views.ts').WebhookView} Webhook
 * @typedef {import('../../finished-per-minute.ts').FinishedPerMinute} PerMinute
 * @typedef {import('../../rule-view.ts').RuleView} Rule
 * @typedef {{ version: string, now: string, problem?: string, targets: Target[] }} Status
 * @typedef {{ calls: Call[], truncated?: boolean, next?: string }} Calls
 * @typedef {{ type: string, time: string, data: CallChange }} CallEvent
 * @typedef {import('../../call-route.ts').CallDetails & { events: CallEvent[] }} CallDetails
 * @typedef {import('../../../history/usage-report.ts').UsageReport} Report
 * @typedef {import('../../../history/alert-history.ts').PastAlert} PastAlert
 * @typedef {import('../../../history/series.ts').SeriesPoint} Point
 * @typedef {import('../../series-route.ts').SeriesView} CallSeries
 * @typedef {Pick<PastAlert, 'target' | 'alert' | 'key' | 'severity' | 'labels' | 'since' | 'until'>} Episode
 */

const TIMEOUT_MS = 10_000
/** A report adds up all calls of its period. */
const REPORT_TIMEOUT_MS = 120_000

/** @returns {Promise<Status>} */
export const getStatus = () => getJson('api/v1/status')

/**
 * @param {string} [query] a match
 * @returns {Promise<{ alerts: Alert[] }>}
 */
export const getAlerts = (query = '') => getJson(`api/v1/alerts?${query}`)

/**
 * @param {string} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('../../../history/alert-history.ts').AlertHistory>}
 */
export const getPastAlerts = (query, signal) => getJson(`api/v1/alerts/history?${query}`, TIMEOUT_MS, signal)

/** @returns {Promise<{ silences: Silence[], read_only?: boolean | undefined }>} */
export const getSilences = () => getJson('api/v1/silences?since=7d')

/**
 * @param {object} body
 * @returns {Promise<Silence>}
 */
export const addSilence = (body) => sendJson('POST', 'api/v1/silences', body)

/**
 * @param {string} id
 * @param {object} body
 * @returns {Promise<Silence>}
 */
export const editSilence = (id, body) => sendJson('PATCH', `api/v1/silences/${encodeURIComponent(id)}`, body)

/** @param {number} id */
export const deleteSilence = (id) => request(`api/v1/silences/${id}`, { method: 'DELETE' }, TIMEOUT_MS)

/** @returns {Promise<{ webhooks: Webhook[] }>} */
export const getWebhooks = () => getJson('api/v1/webhooks')

/**
 * @param {number} minutes
 * @returns {Promise<PerMinute>}
 */
export const getPerMinute = (minutes) => getJson(`api/v1/finished-per-minute?minutes=${minutes}`)

/**
 * @param {string} query
 * @param {AbortSignal} [signal]
 * @returns {Promise<Calls>}
 */
export const getCalls = (query, signal) => getJson(`api/v1/calls?${query}`, TIMEOUT_MS, signal)

/**
 * @param {string} target
 * @param {string} id
 * @returns {Promise<CallDetails>}
 */
export const getCall = (target, id) => getJson(`api/v1/calls/${encodeURIComponent(target)}/${encodeURIComponent(id)}`)

/**
 * @param {string} query
 * @returns {Promise<Report>}
 */
export const getReport = (query) => getJson(`api/v1/report?${query}`, REPORT_TIMEOUT_MS)

/**
 * @param {string} query
 * @param {AbortSignal} signal
 * @returns {Promise<CallSeries>}
 */
export const getSeries = (query, signal) => getJson(`api/v1/series?${query}`, REPORT_TIMEOUT_MS, signal)

/**
 * Requests a path of the API. Rejects without a successful response in time, with the reason as half a sentence.
 *
 * @param {string} path
 * @param {number} [timeout] milliseconds
 * @param {AbortSignal} [signal]
 */
const getJson = (path, timeout = TIMEOUT_MS, signal) => request(path, { signal }, timeout)

/**
 * @param {'POST' | 'PATCH'} method
 * @param {string} path
 * @param {object} body
 */
const sendJson = (method, path, body) =>
  request(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }, TIMEOUT_MS)

/**
 * @param {string} path
 * @param {{ method?: string, headers?: Record<string, string>, body?: string, signal?: AbortSignal | undefined }} options
 * @param {number} timeout milliseconds
 */
async function request(path, { signal = new AbortController().signal, ...options }, timeout) {
  const inTime = AbortSignal.timeout(timeout)
  try {
    const response = await fetch(path, { ...options, cache: 'no-store', signal: AbortSignal.any([inTime, signal]) })
    if (response.status === 204) return undefined
    const body = await response.json()
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
