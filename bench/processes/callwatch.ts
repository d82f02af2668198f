import { loadConfig } from '../../src/config/load-config.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { openStore } from '../../src/store/open-store.ts'
import { answer, forkedWith } from './answer.ts'
import { measure, type Measured } from './measure.ts'
import { openedTarget, type OpenedTarget } from './open-target.ts'
import { virtualClock } from './virtual-clock.ts'

/** How one poll went. `seconds` is how long it took by the virtual clock. */
export type PollAnswer = Measured & {
  /** What was asked for, by path. */
  paths: string[]
  outcome: string
  /** A part of the whole list was read beside the newest calls. */
  sweeping: boolean
  seconds: number
  /** Tracked calls afterwards, and the open ones among them. */
  calls: number
  open: number
}

/** callwatch with a durable store, polling one of its targets on demand. */
const { file, now, speed = 1 } = forkedWith<{ file: string; now: number; speed?: number }>()
const config = loadConfig({ file, env: {}, cwd: import.meta.dirname })
const { clock, goFrom, stop } = virtualClock(now, speed)
const store = await openStore(config.store, [])
const opened: OpenedTarget[] = []
const metrics = metricsOf(() => opened.map(({ target }) => target), 'bench')
for (const target of config.targets) opened.push(await openedTarget({ config, target, store, clock, metrics }))

answer(async ({ target = 0, now, whole, end }: { target?: number; now?: number; whole?: boolean; end?: boolean }) => {
  if (end) {
    await store.close()
    return undefined
  }
  const { target: polled, poll, forgetList } = opened[target]!
  goFrom(now ?? clock.wall())
  if (whole) forgetList()
  const { measured, result } = await measure(async () => {
    const paths: string[] = []
    for (;;) {
      const { paths: asked, report, sweeping } = await poll()
      paths.push(...asked)
      if (report.outcome === 'failed') throw new Error(`a poll of the bench failed: ${report.problem}`)
      // The initial sync of a long list takes several polls.
      if (!whole || report.outcome === 'complete') return { paths, report, sweeping }
    }
  })
  stop()
  const { calls, open } = polled.ledger
  const { paths, report, sweeping } = result
  const { outcome, seconds } = report
  return { ...measured, paths, outcome, sweeping, seconds, calls: calls.size, open: open.size }
})
