import { configOf, type Config } from '../../config/config.ts'
import type { Simulator } from '../../simulator/simulator.ts'
import type { EventReceiver } from './event-receiver.ts'

/** Long enough that a webhook is faster. */
const POLL_INTERVAL_SECONDS = 3
/** The user and password of the simulator's webhooks. */
export const HOOK = { username: 'simulator', password: 'simulator' }

type DemoParts = {
  simulator: Simulator
  receiver: EventReceiver
  store: string
  port: number
}

/** A configuration with windows and durations for a demo of some minutes. */
export function demoConfig({ simulator, receiver, store, port }: DemoParts): Config {
  return configOf({
    targets: [{ name: 'demo', base_url: simulator.url, api_key: simulator.keys.fullAccess, webhook: HOOK }],
    poll: {
      interval: `${POLL_INTERVAL_SECONDS}s`,
      page_size: 1000,
      timeout: '5s',
      retries: 2,
      lookback: '1h',
      // Every poll is a complete sweep, so that the last one can be compared.
      sweep_interval: '1s',
      // So high that polls hardly ever wait, and neither does the final audit, which may use a quarter. And so low that a
      // poll's requests are still among the recorded responses when the poll is compared.
      max_requests_per_minute: 2400,
    },
    store: { path: store, history: '1d' },
    http: { host: process.env['CALLWATCH_HTTP_HOST'] ?? '127.0.0.1', port, public_url: `http://127.0.0.1:${port}` },
    notify: { group_wait: 0, group_interval: 0, slack: { webhook_url: receiver.slackUrl } },
    events: {
      webhooks: [{ name: 'demo', url: receiver.url, secret: receiver.secret, from: 'start' }],
    },
    alerts: [
      {
        name: 'HighFailureRate',
        signal: 'failure_ratio',
        window: '20s',
        min_calls: 10,
        severity: 'critical',
        above: 0.5,
        clear: 0.4,
        for: '3s',
        // So that there is time to look at it.
        keep_firing_for: '2m',
        repeat: 0,
        description: 'More than half of the calls of the last {window} failed.',
      },
    ],
    log: { level: 'error' },
  })
}
