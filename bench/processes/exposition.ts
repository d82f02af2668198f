import { loadConfig } from '../../src/config/load-config.ts'
import { introduceTarget } from '../../src/metrics/record.ts'
import { metricsOf } from '../../src/metrics/registry.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { WatchedTarget } from '../../src/web/views.ts'
import { answer, forkedWith } from './answer.ts'
import { measure, type Measured } from './measure.ts'
import { openTarget, type OpenTarget } from './open-target.ts'
import { virtualClock } from './virtual-clock.ts'

export type Exposed = Measured & { body: string }

/** callwatch's own /metrics: every target is polled, so that nothing of the last text still holds, and then scraped. */
const { file, now } = forkedWith<{ file: string; now: number }>()
const config = loadConfig({ file, env: {}, cwd: import.meta.dirname })
const { clock, goFrom, stop } = virtualClock(now, 1)
const store = await openStore(config.store, [])
const watched: WatchedTarget[] = []
const metrics = metricsOf(() => watched, 'bench')
const targets: OpenTarget[] = []
for (const target of config.targets) {
  const opened = await openTarget({ config, target, store, clock, metrics })
  introduceTarget(metrics.operational, target.name)
  targets.push(opened)
  watched.push(opened.watched)
}

answer(async ({ now }: { now: number }): Promise<Exposed> => {
  goFrom(now)
  for (const { look } of targets) {
    const { report } = await look()
    if (!report.good) throw new Error(`a poll of the bench failed: ${report.problem}`)
  }
  stop()
  const { measured, result } = await measure(() => metrics.expose('prometheus'))
  return { ...measured, body: result.body }
})
