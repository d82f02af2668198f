/**
 * What the API answers, by the server's own types.
 *
 * @typedef {import('../../views.ts').TargetView} Target
 * @typedef {import('../../views.ts').AlertView} Alert
 * @typedef {import('../../views.ts').CallView} Call
 * @typedef {import('../../views.ts').TransitionEvent} Transition
 * @typedef {import('../../views.ts').AlertEvent} AlertChange
 * @typedef {ReturnType<typeof import('../../silences-route.ts').silenceView>} Silence
 * @typedef {import('../../finished-route.ts').FinishedView} PerMinute
 * @typedef {ReturnType<typeof import('../../rule-view.ts').ruleView>} Rule
 * @typedef {{ version: string, now: string, problem?: string, targets: Target[] }} Status
 * @typedef {{ calls: Call[], truncated?: boolean }} Calls
 */

/** For one answer (milliseconds). */
const PATIENCE = 10_000

/** @returns {Promise<Status>} */
export const getStatus = () => getJson('api/v1/status')

/** @returns {Promise<{ alerts: Alert[] }>} */
export const getAlerts = () => getJson('api/v1/alerts')

/** @returns {Promise<{ silences: Silence[] }>} */
export const getSilences = () => getJson('api/v1/silences')

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
 * What a path of the API answers; rejects when there is no good answer in time.
 *
 * @param {string} path
 */
async function getJson(path) {
  const response = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE) })
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`)
  return response.json()
}
