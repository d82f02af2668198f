import { hex, type Random } from '../random.ts'

/** The app of the simulated service. */
export const SIMULATED_APP = 'simulator'
const PREFIX = `v1.us.${SIMULATED_APP}.`

/** An id that the service makes for a ringing call, or one that an app chose for a meeting. */
export function drawSessionId(random: Random, mode: string): string {
  return mode === 'call' ? `${PREFIX}${hex(random, 24)}` : `${mode}: room/${hex(random, 16)}`
}

/** The id as webhooks show it. */
export const withPrefix = (id: string) => (id.startsWith(PREFIX) ? id : PREFIX + id)
