import { expect, test } from 'vitest'
import type { WatchedTarget } from '../../src/web/views.ts'
import { unreadyBecause } from '../../src/web/readiness.ts'
import { serve, watchedTarget } from './serve.ts'

const BEFORE_FIRST_LOOK = {}
const good = (target = 'production') => watchedTarget({ target })

async function readyz(targets: WatchedTarget[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, body: await response.json() }
}

const unready: [what: string, targets: WatchedTarget[], problems: string[]][] = [
  [
    'before the first look has ended',
    [watchedTarget({ facts: BEFORE_FIRST_LOOK })],
    ['target production: the first look has not ended yet'],
  ],
  [
    'when the first look failed, for the reason',
    [watchedTarget({ facts: BEFORE_FIRST_LOOK, problem: 'the service answered 401' })],
    ['target production: the service answered 401'],
  ],
  [
    'while a long first look goes on, page by page',
    [
      { ...watchedTarget({ facts: BEFORE_FIRST_LOOK }), progress: () => ({ done: 12, of: 340 }) },
      {
        ...watchedTarget({
          target: 'b',
          facts: BEFORE_FIRST_LOOK,
          problem: 'as it was when the cycle ended',
          isReading: true,
        }),
        progress: () => ({ done: 3, of: undefined }),
      },
      {
        ...watchedTarget({ target: 'c', facts: BEFORE_FIRST_LOOK, problem: 'the service answered 401' }),
        progress: () => ({ done: 3, of: 4 }),
      },
    ],
    [
      'target production: the first look has read 12 of 340 pages',
      'target b: the first look has read 3 of an unknown number of pages',
      'target c: the service answered 401',
    ],
  ],
  [
    'while one target of several still waits for its first look',
    [good('a'), watchedTarget({ target: 'b', facts: BEFORE_FIRST_LOOK })],
    ['target b: the first look has not ended yet'],
  ],
  [
    'when every target has been failing for longer than three intervals',
    [
      watchedTarget({ target: 'a', lookAge: 46, problem: 'no answer from the service' }),
      watchedTarget({ target: 'b', lookAge: 100 }),
    ],
    ['target a: no answer from the service', 'target b: no good look for too long'],
  ],
  [
    'while the store cannot be written',
    [good('a'), watchedTarget({ target: 'b', problem: 'the store x.db cannot be used: disk full', storeFailed: true })],
    ['target b: the store x.db cannot be used: disk full'],
  ],
]

test.each(unready)('/readyz is 503 %s', async (_what, targets, problems) => {
  expect(await readyz(targets)).toEqual({ status: 503, body: { status: 'not ready', problems } })
})

const ready: [what: string, targets: WatchedTarget[]][] = [
  ['after a good look', [good()]],
  ['when a target has been failing for no longer than three intervals', [watchedTarget({ lookAge: 45, problem: 'x' })]],
  ['when one target of several still works', [good('a'), watchedTarget({ target: 'b', lookAge: 1000, problem: 'x' })]],
]

test.each(ready)('/readyz is 200 %s', async (_what, targets) => {
  expect(await readyz(targets)).toEqual({ status: 200, body: { status: 'ready' } })
})

test('/healthz is 200 whatever the targets do', async () => {
  const { url } = await serve([watchedTarget({ facts: BEFORE_FIRST_LOOK, problem: 'x', storeFailed: true })])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

test('a daemon that can own no target is not ready, and says why', () => {
  expect(unreadyBecause([good()], 'the database cannot be reached')).toEqual(['the database cannot be reached'])
})

test('/readyz goes by the targets that are this daemon’s own', async () => {
  const another = { ...watchedTarget({ target: 'b', facts: BEFORE_FIRST_LOOK }), isOwn: () => false }
  expect(await readyz([good(), another])).toEqual({ status: 200, body: { status: 'ready' } })
  expect(await readyz([another])).toEqual({ status: 200, body: { status: 'ready' } })
})
