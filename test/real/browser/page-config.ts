import { configOf, type Config } from '../../../src/config/config.ts'

/** The configuration of a daemon on a free port of loopback that polls often, without a store file. `receivers` are keys of `notify`. */
export function pageConfig(name: string, baseUrl: string, apiKey: string, receivers: object = {}): Config {
  return configOf({
    targets: [{ name, base_url: baseUrl, api_key: apiKey }],
    poll: {
      interval: '300ms',
      page_size: 1000,
      timeout: '1s',
      retries: 0,
      lookback: '1h',
      sweep_interval: '1m',
      max_requests_per_minute: 6000,
      baseline: 'count',
    },
    store: { path: ':memory:', history: '1d' },
    http: { host: '127.0.0.1', port: 0 },
    notify: { group_by: ['target', 'severity'], group_wait: 0, group_interval: 0, ...receivers },
    alerts: [],
    log: { level: 'silent' },
  })
}
