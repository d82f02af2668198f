import { readFileSync, writeFileSync } from 'node:fs'
import type { DaemonProcess } from '../../kit/daemon-process.ts'

/** So few that the limit delays the daemon wherever a list has no order. */
export const MAX_REQUESTS_PER_MINUTE = 360
/** So many that each poll reads a long list to its end before a rule calls it late, once the run is healed. */
const REQUESTS_PER_MINUTE_AFTER = 6000

/** Lets a daemon that runs read faster from now on, by a reload. @param config its file */
export function liftLimit(config: string, { child }: DaemonProcess): void {
  const limit = (requests: number) => `max_requests_per_minute: ${requests}`
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace(limit(MAX_REQUESTS_PER_MINUTE), limit(REQUESTS_PER_MINUTE_AFTER)),
  )
  child.kill('SIGHUP')
}

/** Small pages and quick sweeps, so that every kind of poll occurs within seconds, and rules that soon fire; one flaps. */
export function chaosConfig(given: {
  service: string
  apiKey: string
  slack: string
  onCall: string
  /** More items of `notify.receivers`. */
  others: string
  /** The address, user and password of the webhooks of the service. */
  hooks: URL
  store: string
}): string {
  return `
targets:
  - name: chaos
    base_url: '${given.service}'
    api_key: ${given.apiKey}
    webhook: { username: ${given.hooks.username}, password: ${given.hooks.password} }
poll:
  interval: 500ms
  page_size: 40
  timeout: 1s
  retries: 2
  sweep_interval: 4s
  baseline: skip
  max_requests_per_minute: ${MAX_REQUESTS_PER_MINUTE}
store: { path: '${given.store}' }
http: { host: 127.0.0.1, port: 0, hooks: { host: 127.0.0.1, port: ${given.hooks.port} } }
notify:
  group_by: [target, severity]
  group_wait: 0s
  group_interval: 0s
  slack: { webhook_url: '${given.slack}' }
  receivers: [{ name: on-call, webhook: { url: '${given.onCall}' } }, ${given.others}]
alerts:
  - { name: Failing, signal: failure_ratio, window: 8s, above: 0.5, clear: 0.4, min_calls: 3, for: 0s, severity: critical }
  - { name: NoGoodPoll, signal: poll_age, above: 2s, for: 0s, severity: warning }
  - { name: Flapping, signal: calls_started, window: 4s, above: 12, for: 0s, severity: info }
log: { level: trace }
`
}
