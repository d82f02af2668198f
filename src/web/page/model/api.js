/**
 * The responses of the API, by the types of the server.
 *
 * @typedef {import('../../target-view.ts').TargetView} Target
 * @typedef {import('../../views.ts').AlertView} Alert
 * @typedef {import('../../../events/call-data.ts').CallView} Call
 * @typedef {import('../../../events/event.ts').CallChange} CallChange
 * @typedef {import('../../../events/event.ts').AlertChange} AlertChange
 * @typedef {import('../../silences-route.ts').SilenceView} Silence
 * @typedef {import('../../../events/webhooks/webhook-views.ts').WebhookView} Webhook
 * @typedef {import('../../finished-per-minute.ts').FinishedPerMinute} PerMinute
 * @typedef {import('../../rule-view.ts').RuleView} Rule
 * @typedef {{ version: string, now: string, problem?: string, targets: Target[] }} Status
 * @typedef {{ calls: Call[], truncated?: boolean }} Calls
 */

const TIMEOUT_MS = 10_000

/** @returns {Promise<Status>} */
export const getStatus = () => getJson('api/v1/status')

/** @returns {Promise<{ alerts: Alert[] }>} */
export const getAlerts = () => getJson('api/v1/alerts')

/** @returns {Promise<{ silences: Silence[] }>} */
export const getSilences = () => getJson('api/v1/silences')

/** @returns {Promise<{ webhooks: Webhook[] }>} */
export const getWebhooks = () => getJson('api/v1/webhooks')

/**
 * @param {number} minutes
 * @returns {Promise<PerMinute>}
 */
export const getPerMinute = (minutes) => getJson(`api/v1/finished-per-minute?minutes=${minutes}`)

/**
 * @param {string} query
 * @returns {Promise<Calls>}
 */
export const getCalls = (query) => getJson(`api/v1/calls?${query}`)

/**
 * Requests a path of the API. Rejects without a successful response in time.
 *
 * @param {string} path
 */
async function getJson(path) {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`)
  return response.json()
}
