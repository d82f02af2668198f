import type { Config } from '../../../src/config/config.ts'

/** A daemon on a free port of loopback that looks often, keeps nothing and tells nobody. */
export function watchedConfig(name: string, baseUrl: string, apiKey: string): Config {
  return {
    targets: [{ name, baseUrl, apiKey, query: {} }],
    poll: {
      interval: 0.3,
      pageSize: 1000,
      maxAnswerBytes: 32 * 1024 * 1024,
      timeout: 1,
      retries: 0,
      lookback: 3600,
      sweepInterval: 60,
      maxRequestsPerMinute: 6000,
      baseline: 'count',
      details: 'missing',
      statusMap: {},
    },
    store: { path: ':memory:', history: 86_400 },
    http: { host: '127.0.0.1', port: 0 },
    notify: { groupWait: 0, routes: [], mutes: [] },
    alerts: [],
    log: { level: 'silent' },
  }
}
