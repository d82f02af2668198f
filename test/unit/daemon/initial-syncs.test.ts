import { NEVER } from 'rxjs'
import { expect, onTestFinished, test } from 'vitest'
import { ALONE } from '../../../src/cluster/ownership.ts'
import { initialSyncs } from '../../../src/daemon/initial-syncs.ts'
import { runJobs } from '../../../src/daemon/jobs.ts'
import type { Target } from '../../../src/pipeline/target.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

test('the progress of an initial sync that takes five seconds is reported every five seconds if there is any, until it has ended', async () => {
  const clock = virtualClock()
  const progress = { pagesRead: 1, pages: 9 }
  const sync: { lastSuccess: number | undefined } = { lastSuccess: undefined }
  let polledFor = 4
  const health = () => ({ polledFor })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is asked of a target
  const target = { name: 'a', health, ledger: { sync }, progress: () => ({ ...progress }) } as unknown as Target
  const emitted: unknown[] = []
  const running = runJobs([initialSyncs({ loaded: () => [target] })], {
    clock,
    ownership: ALONE,
    draining$: NEVER,
  }).subscribe((event) => emitted.push(event.kind === 'progress' && [event.target, event.progress.pagesRead]))
  onTestFinished(() => running.unsubscribe())
  await clock.advance(6)
  expect(emitted).toEqual([])
  polledFor = 5
  await clock.advance(10)
  progress.pagesRead = 4
  await clock.advance(5)
  expect(emitted).toEqual([
    ['a', 1],
    ['a', 4],
  ])
  progress.pagesRead = 9
  sync.lastSuccess = clock.wall()
  await clock.advance(5)
  expect(emitted).toHaveLength(2)
})
