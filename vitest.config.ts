import { defineConfig } from 'vitest/config'

/** Files of pure code: no process, no server, no file. */
export const UNIT = [
  'alerts',
  'clock',
  'cluster',
  'ledger',
  'log',
  'metrics',
  'network',
  'pipeline',
  'polling',
  'schema',
  'service',
  'text',
].map((folder) => `test/${folder}/**/*.test.ts`)

/** What needs real parts or many minutes: processes that are killed, browsers, Prometheus, fail-overs, images, releases, demos, long laws. */
export const SLOW = [
  'test/chaos/**/*.test.ts',
  'test/container/recipe.test.ts',
  'test/daemon/several-daemons.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/notifications/receivers/{alertmanager,webhook}/alertmanager-real.test.ts',
  'test/parity/**/*.test.ts',
  'test/prometheus/running.test.ts',
  'test/repository/release.test.ts',
  'test/simulation/**/*.test.ts',
  'test/store/postgres/{failover,pooler,problems,tls}.test.ts',
  'test/system/**/*.test.ts',
  'test/web/browser/**/*.test.ts',
]

/** What needs containers: `npm run test:container` makes them. */
const CONTAINER = ['test/container/running/**/*.test.ts']

const shared = {
  testTimeout: 10_000,
}

export default defineConfig({
  test: {
    // System tests start several processes each; on two cores more than two files at once only steal time.
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: 'unit', include: UNIT, isolate: false } },
      {
        test: { ...shared, name: 'parts', include: ['test/**/*.test.ts'], exclude: [...UNIT, ...SLOW, ...CONTAINER] },
      },
      { test: { ...shared, name: 'slow', include: SLOW, hookTimeout: 60_000 } },
      { test: { ...shared, name: 'container', include: CONTAINER, hookTimeout: 60_000, fileParallelism: false } },
    ],
  },
})
