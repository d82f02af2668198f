import { existsSync, readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** One room of `src` at a time: pure code, or with its neighbours in this process. No server, no other process. */
export const UNIT = ['test/unit/**/*.test.ts']

/**
 * What needs real parts or minutes: processes that are killed, worlds in real time, browsers, Prometheus, failovers, images, releases,
 * demos, long laws.
 */
export const SLOW = [
  'test/contract/store/{on,meetings-on}-*.test.ts',
  'test/promises/**/*.test.ts',
  'test/real/**/*.test.ts',
  'test/repository/release.test.ts',
]

/** What imports the page: Node.js does not run JSX by itself. */
export const PAGE = ['test/unit/web/page/**/*.test.ts']

/** Files that replace a module, which the other tests must not see. */
export const ALONE = ['test/unit/config/made-up-signal.test.ts', 'test/contract/web/made-up-endpoint.test.ts']

/** What needs containers: `npm run test:container` makes them. */
const CONTAINER = ['test/real/container/running/**/*.test.ts']

/** Simulations take minutes of one core and wait for nothing: they begin first, so that no core is idle at the end. */
class SimulationsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line no-array-sort -- a method of the sequencer
    const rest = Object.groupBy(await super.sort(files), (file) =>
      file.moduleId.includes('/promises/simulation/') ? 'first' : 'later',
    )
    return [...(rest.first ?? []), ...(rest.later ?? [])]
  }
}

const DRAWN_VALUES = 'test/kit/drawn-values.ts'
const ONE_SERVER = 'test/kit/postgres/one-server.ts'

const shared = {
  // Some start processes while other tests, and other programs, keep both cores busy.
  testTimeout: 90_000,
  // Node.js runs TypeScript itself, and faster than Vite does.
  experimental: { viteModuleRunner: false, nodeLoader: false },
}
const byVite = { ...shared, experimental: {} }

/** Temporary files here cost no waiting for a disk, but memory. */
const MEMORY = '/dev/shm'
const MEMORY_BYTES = 8 * 1024 ** 3
const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : ''
// Tests run programs from temporary files.
if (new RegExp(` ${MEMORY} tmpfs (?!\\S*noexec)`).test(mounts)) {
  const { bavail, bsize } = statfsSync(MEMORY)
  if (Math.min(bavail * bsize, process.availableMemory()) > MEMORY_BYTES) process.env['TMPDIR'] ??= MEMORY
}

// The threads and processes of the tests compile each module once.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    // Tests wait for processes and timers as often as they compute: two cores are busy with three files at a time.
    maxWorkers: 3,
    sequence: { sequencer: SimulationsFirst, setupFiles: 'list' },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: UNIT,
          exclude: [...ALONE, ...PAGE],
          setupFiles: [DRAWN_VALUES, 'test/kit/unit-setup.ts'],
          isolate: false,
        },
      },
      { test: { ...byVite, name: 'page', include: PAGE, isolate: false } },
      {
        test: {
          ...shared,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...ALONE, ...SLOW, ...CONTAINER],
          setupFiles: DRAWN_VALUES,
          globalSetup: ONE_SERVER,
          isolate: false,
        },
      },
      { test: { ...byVite, name: 'alone', include: ALONE } },
      {
        test: {
          ...shared,
          name: 'slow',
          include: SLOW,
          exclude: CONTAINER,
          setupFiles: DRAWN_VALUES,
          globalSetup: ONE_SERVER,
          // Beside other programs that keep both cores busy, weeks of polls take half of it.
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      { test: { ...shared, name: 'container', include: CONTAINER, hookTimeout: 60_000, fileParallelism: false } },
    ],
  },
})
