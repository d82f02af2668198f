import type { DaemonOptions } from './daemon-options.ts'
import { openShared } from './parts.ts'
import { EXPORTED_WINDOWS } from '../ledger/failure-ratio.ts'
import { reporter } from './reporting/reporter.ts'
import { newRetention } from './retention.ts'
import { serve } from './serve.ts'

export type OpenDaemon = Awaited<ReturnType<typeof openParts>>

/** After a restart, the exported windows are counted from the history (seconds). */
const MAX_WINDOW_SECONDS = Math.max(...Object.values(EXPORTED_WINDOWS))

/**
 * Opens the parts of a daemon, each with the parts that it needs. If one cannot be opened, the others are closed.
 *
 * @throws {StoppedError}
 */
export async function openParts(options: DaemonOptions) {
  await using opened = new AsyncDisposableStack()
  const shared = await openShared(options, opened)
  const { config, targets, overviews } = shared
  const report = reporter(shared)
  const web = await serve({ ...shared, report })
  opened.defer(web.close)
  const retention = newRetention({
    ...shared,
    lastSuccesses: () => [
      ...targets.loaded().map(({ ledger }) => ledger.sync.lastSuccess),
      ...overviews.others().map(({ lastSuccess }) => lastSuccess),
    ],
    kept: () => Math.max(config().store.history, MAX_WINDOW_SECONDS),
  })
  const closing = opened.move()
  return { ...shared, web, retention, report, close: () => closing.disposeAsync() }
}
