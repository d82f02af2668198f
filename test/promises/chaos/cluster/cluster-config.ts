import { HOOKS_PASSWORD, HOOKS_USER } from './hooks-relay.ts'

/** Seconds. */
export const LEASE = 8
export const INTERVAL = 3
/** Within so many a target is polled again, whatever has happened to its owner. */
export const FAILOVER_SECONDS = LEASE + 2 * INTERVAL
export const MAX_REQUESTS_PER_MINUTE = 400

/** Targets with a service and a key of their own each, polled by the daemon that owns them. */
export function clusterConfig(given: {
  targets: readonly { name: string; url: string; apiKey: string }[]
  slack: string
  /** More items of `notify.receivers`. */
  others: string
  store: string
}): string {
  const targets = given.targets.map(
    ({ name, url, apiKey }) =>
      `  - { name: ${name}, base_url: '${url}', api_key: ${apiKey}, webhook: { username: ${HOOKS_USER}, password: ${HOOKS_PASSWORD} } }`,
  )
  return `
targets:
${targets.join('\n')}
poll:
  interval: ${INTERVAL}s
  page_size: 100
  timeout: 2s
  retries: 2
  sweep_interval: 12s
  baseline: skip
  max_requests_per_minute: ${MAX_REQUESTS_PER_MINUTE}
store: { url: '${given.store}', lease: ${LEASE}s }
http: { host: 127.0.0.1, port: 0 }
notify:
  group_by: [target, severity]
  group_wait: 0s
  group_interval: 0s
  slack: { webhook_url: '${given.slack}' }
  receivers: [${given.others}]
alerts:
  - { name: Failing, signal: failure_ratio, window: 10s, above: 0.1, clear: 0.05, min_calls: 1, for: 0s, severity: critical }
  - { name: NoGoodPoll, signal: poll_age, above: 6s, for: 0s, severity: warning }
log: { level: debug }
`
}
