import { expect, test } from 'vitest'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import { readiness } from '../../../src/web/readiness.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const BEFORE_INITIAL_SYNC = {}
const successful = (target = 'production') => shownTarget({ target })

async function readyz(targets: TargetStatus[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, body: await response.json() }
}

type Loading = { problem: string | undefined }[]
const targetsOf = (own: TargetStatus[], loading: Loading = [], areOthersKnown = true) => ({
  own: () => own,
  loading: () => loading,
  areOthersKnown: () => areOthersKnown,
})

const WHY = '/api/v1/status says why'

const unready: [what: string, targets: TargetStatus[], problems: string[]][] = [
  [
    'before the initial sync has ended',
    [shownTarget({ sync: BEFORE_INITIAL_SYNC })],
    ['target production: the initial sync has not ended yet'],
  ],
  [
    'while a long initial sync continues, even if a page of it failed',
    [
      { ...shownTarget({ sync: BEFORE_INITIAL_SYNC }), progress: () => ({ pagesRead: 12, pages: 340 }) },
      {
        ...shownTarget({
          target: 'b',
          sync: BEFORE_INITIAL_SYNC,
          problem: 'as it was when the cycle ended',
          fault: 'list',
          polledFor: 600,
        }),
        progress: () => ({ pagesRead: 3, pages: undefined }),
      },
      {
        ...shownTarget({ target: 'c', sync: BEFORE_INITIAL_SYNC, problem: 'page 5: 500', hasPage: true }),
        progress: () => ({ pagesRead: 4, pages: 9 }),
      },
    ],
    [
      'target production: the initial sync has read 12 of 340 pages',
      'target b: the initial sync has read 3 of an unknown number of pages',
      'target c: the initial sync has read 4 of 9 pages',
    ],
  ],
  [
    'during the initial sync of one target of several',
    [successful('a'), shownTarget({ target: 'b', sync: BEFORE_INITIAL_SYNC })],
    ['target b: the initial sync has not ended yet'],
  ],
  [
    'when every target has failed for longer than three intervals',
    [
      shownTarget({ target: 'a', pollAge: 46, problem: 'no answer from the service' }),
      shownTarget({ target: 'b', pollAge: 100 }),
      shownTarget({ target: 'c', pollAge: 46, sync: BEFORE_INITIAL_SYNC, problem: 'the service answered 401' }),
    ],
    [
      `target a: no successful poll for too long; ${WHY}`,
      `target b: no successful poll for too long; ${WHY}`,
      `target c: no successful poll yet; ${WHY}`,
    ],
  ],
  [
    "when the service's clock is not accepted for longer than ten minutes",
    [
      shownTarget({
        sync: BEFORE_INITIAL_SYNC,
        problem: 'the clocks differ',
        hasPage: true,
        pollAge: 601,
        polledFor: 601,
      }),
    ],
    [`target production: no successful poll yet; ${WHY}`],
  ],
  [
    'while the store cannot be written',
    [
      successful('a'),
      shownTarget({ target: 'b', problem: 'the store x.db cannot be used: disk full', fault: 'store' }),
      shownTarget({ target: 'c', sync: BEFORE_INITIAL_SYNC, problem: 'x', hasPage: true, fault: 'store' }),
    ],
    [`target b: the store cannot be written to; ${WHY}`, `target c: the store cannot be written to; ${WHY}`],
  ],
]

test.each(unready)('/readyz is 503 %s', async (_what, targets, problems) => {
  expect(await readyz(targets)).toEqual({ status: 503, body: { status: 'not ready', problems } })
})

const degraded: [what: string, targets: TargetStatus[], problems: string[]][] = [
  [
    'when a target without any successful poll fails, and others do not',
    [successful('a'), shownTarget({ target: 'b', pollAge: 1000, sync: BEFORE_INITIAL_SYNC, problem: 'no answer' })],
    [`target b: no successful poll yet; ${WHY}`],
  ],
  [
    'when one target of several has failed for long',
    [successful('a'), shownTarget({ target: 'b', pollAge: 1000, problem: 'x' })],
    [`target b: no successful poll for too long; ${WHY}`],
  ],
  [
    'when all targets have failed for up to three intervals',
    [shownTarget({ pollAge: 45, problem: 'x' }), shownTarget({ target: 'b', sync: BEFORE_INITIAL_SYNC, problem: 'x' })],
    [`target production: the last poll failed; ${WHY}`, `target b: no successful poll yet; ${WHY}`],
  ],
]

test.each(degraded)('/readyz is 200 and degraded %s', async (_what, targets, problems) => {
  expect(await readyz(targets)).toEqual({ status: 200, body: { status: 'degraded', problems } })
})

const ready: [what: string, targets: TargetStatus[]][] = [
  ['after a successful poll', [successful()]],
  [
    'when an initial sync takes longer than ten minutes',
    [
      shownTarget({
        sync: { clockSkew: 0 },
        problem: 'reading',
        fault: 'list',
        pollAge: 601,
        polledFor: 601,
      }),
    ],
  ],
  ['while a target sweeps its list again', [shownTarget({ problem: 'x', fault: 'list' })]],
]

test.each(ready)('/readyz is 200 and ready %s', async (_what, targets) => {
  expect(await readyz(targets)).toEqual({ status: 200, body: { status: 'ready' } })
})

test('/readyz, which needs no password, contains no text of the service', async () => {
  const failing = { problem: 'the service answered 500: <b>come in</b>', pollAge: 1000 }
  const { body } = await readyz([shownTarget(failing), shownTarget({ ...failing, target: 'b', fault: 'store' })])
  expect(JSON.stringify(body)).not.toContain('come in')
  expect((await readyz([shownTarget(failing)])).status).toBe(503)
})

test('/healthz is 200 even if all targets fail', async () => {
  const { url } = await serve([shownTarget({ sync: BEFORE_INITIAL_SYNC, problem: 'x', fault: 'store' })])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

test('/readyz of a daemon that can own no target is not ready, and names neither the database nor other daemons', () => {
  const problem = 'the database x at db1:5432 does not let this user in (password authentication failed for user "me")'
  expect(readiness(targetsOf([successful()]), problem)).toEqual({
    status: 'not ready',
    problems: [
      `this daemon can own no target: the store cannot be used, or other daemons have another configuration; ${WHY}`,
    ],
  })
})

test('/readyz of a daemon that owns no target is ready: other daemons poll them', () => {
  expect(readiness(targetsOf([]), undefined)).toEqual({ status: 'ready' })
})

test('a daemon that has loaded none of its targets yet is not ready, nor is one that cannot load some', () => {
  const own = [successful()]
  const loading = { problem: undefined }
  expect(readiness(targetsOf([], [loading, loading]), undefined)).toEqual({
    status: 'not ready',
    problems: ['2 targets are being loaded from the store'],
  })
  expect(readiness(targetsOf(own, [loading]), undefined).status).toBe('ready')
  expect(readiness(targetsOf(own, [], false), undefined)).toEqual({
    status: 'not ready',
    problems: ['the targets of other daemons were not read from the store yet'],
  })
  expect(readiness(targetsOf(own, [loading, { problem: 'full of secrets' }]), undefined)).toEqual({
    status: 'not ready',
    problems: ['1 targets cannot be loaded from the store; /api/v1/status says why'],
  })
})
