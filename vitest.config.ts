import { join } from 'node:path'
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
  'views',
].map((folder) => `test/${folder}/**/*.test.ts`)

/**
 * What needs real parts or minutes: processes that are killed, worlds in real time, browsers, Prometheus, failovers, images, releases,
 * demos, long laws.
 */
export const SLOW = [
  'test/chaos/**/*.test.ts',
  'test/commands/{audit,bad-input,closed-pipe,events,initial-sync,log-problems,reload-process,run,start-up}.test.ts',
  'test/container/recipe.test.ts',
  'test/daemon/{hints,incident-oracle,several-daemons}.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/hosts/**/*.test.ts',
  'test/notifications/delivery/{beside-alertmanager,deliver-outbox-due,deliver-outbox-law,incident}.test.ts',
  'test/notifications/receivers/{alertmanager,webhook}/alertmanager-real.test.ts',
  'test/prometheus/{alerting,running}.test.ts',
  'test/repository/release.test.ts',
  'test/simulation/**/*.test.ts',
  'test/store/{call-history/documented,copy/copy-store,upgrade/upgrade}.test.ts',
  'test/store/postgres/{contract,failover,parity,pooler,problems,schema,tls}.test.ts',
  'test/store/sqlite/{meetings,thread-contract}.test.ts',
  'test/system/**/*.test.ts',
  'test/web/browser/**/*.test.ts',
]

/** Files that replace a module, which the other tests must not see. */
export const ALONE = ['test/config/made-up-signal.test.ts', 'test/web/made-up-endpoint.test.ts']

/** What needs containers: `npm run test:container` makes them. */
const CONTAINER = ['test/container/running/**/*.test.ts']

const shared = {
  testTimeout: 10_000,
}

// The threads and processes of the tests compile each module once.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    // System tests start several processes each; on two cores more than two files at once only steal time.
    maxWorkers: 2,
    projects: [
      { test: { ...shared, name: 'unit', include: UNIT, isolate: false } },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...SLOW, ...ALONE, ...CONTAINER],
          isolate: false,
        },
      },
      { test: { ...shared, name: 'alone', include: ALONE } },
      { test: { name: 'slow', include: SLOW, testTimeout: 30_000, hookTimeout: 60_000 } },
      { test: { ...shared, name: 'container', include: CONTAINER, hookTimeout: 60_000, fileParallelism: false } },
    ],
  },
})
