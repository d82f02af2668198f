import { expect, test } from 'vitest'
import { initialSyncProgress } from '../../src/pipeline/initial-sync-progress.ts'
import type { Target } from '../../src/pipeline/target.ts'
import { virtualClock } from '../clock/virtual-clock.ts'

test('the progress of an initial sync is logged every five seconds if there is any, until it has ended', async () => {
  const clock = virtualClock()
  const progress = { pagesRead: 1, pages: 9 }
  const sync: { lastSuccess: number | undefined } = { lastSuccess: undefined }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is asked of a target
  const target = { name: 'a', clock, ledger: { sync }, progress: () => ({ ...progress }) } as unknown as Target
  const emitted: unknown[] = []
  initialSyncProgress(target).subscribe({
    next: (event) => emitted.push(event.progress.pagesRead),
    complete: () => emitted.push('ended'),
  })
  await clock.advance(11)
  progress.pagesRead = 4
  await clock.advance(5)
  expect(emitted).toEqual([1, 4])
  progress.pagesRead = 9
  sync.lastSuccess = clock.wall()
  await clock.advance(5)
  expect(emitted).toEqual([1, 4, 'ended'])
})
