import { expect, test } from 'vitest'
import type { WatchedTarget } from '../../src/web/views.ts'
import { readiness } from '../../src/web/readiness.ts'
import { serve, watchedTarget } from './serve.ts'

const BEFORE_FIRST_LOOK = {}
const good = (target = 'production') => watchedTarget({ target })

async function readyz(targets: WatchedTarget[]) {
  const { url } = await serve(targets)
  const response = await fetch(`${url}/readyz`)
  return { status: response.status, body: await response.json() }
}

const WHY = '/api/v1/status says why'

const unready: [what: string, targets: WatchedTarget[], problems: string[]][] = [
  [
    'before the first look has ended',
    [watchedTarget({ facts: BEFORE_FIRST_LOOK })],
    ['target production: the first look has not ended yet'],
  ],
  [
    'while a long first look goes on, page by page, also where a page of it failed',
    [
      { ...watchedTarget({ facts: BEFORE_FIRST_LOOK }), progress: () => ({ done: 12, of: 340 }) },
      {
        ...watchedTarget({
          target: 'b',
          facts: BEFORE_FIRST_LOOK,
          problem: 'as it was when the cycle ended',
          isReading: true,
          polledFor: 600,
        }),
        progress: () => ({ done: 3, of: undefined }),
      },
      {
        ...watchedTarget({ target: 'c', facts: BEFORE_FIRST_LOOK, problem: 'page 5: 500', hasPage: true }),
        progress: () => ({ done: 4, of: 9 }),
      },
    ],
    [
      'target production: the first look has read 12 of 340 pages',
      'target b: the first look has read 3 of an unknown number of pages',
      'target c: the first look has read 4 of 9 pages',
    ],
  ],
  [
    'while one target of several still reads its list for the first time',
    [good('a'), watchedTarget({ target: 'b', facts: BEFORE_FIRST_LOOK })],
    ['target b: the first look has not ended yet'],
  ],
  [
    'when every target has been failing for longer than three intervals',
    [
      watchedTarget({ target: 'a', lookAge: 46, problem: 'no answer from the service' }),
      watchedTarget({ target: 'b', lookAge: 100 }),
      watchedTarget({ target: 'c', lookAge: 46, facts: BEFORE_FIRST_LOOK, problem: 'the service answered 401' }),
    ],
    [
      `target a: no successful poll for too long; ${WHY}`,
      `target b: no successful poll for too long; ${WHY}`,
      `target c: no successful poll yet; ${WHY}`,
    ],
  ],
  [
    'while the store cannot be written',
    [
      good('a'),
      watchedTarget({ target: 'b', problem: 'the store x.db cannot be used: disk full', storeFailed: true }),
      watchedTarget({ target: 'c', facts: BEFORE_FIRST_LOOK, problem: 'x', hasPage: true, storeFailed: true }),
    ],
    [`target b: the store cannot be written; ${WHY}`, `target c: the store cannot be written; ${WHY}`],
  ],
]

test.each(unready)('/readyz is 503 %s', async (_what, targets, problems) => {
  expect(await readyz(targets)).toEqual({ status: 503, body: { status: 'not ready', problems } })
})

const degraded: [what: string, targets: WatchedTarget[], problems: string[]][] = [
  [
    'when a target that was never read cannot be reached, and others can',
    [good('a'), watchedTarget({ target: 'b', lookAge: 1000, facts: BEFORE_FIRST_LOOK, problem: 'no answer' })],
    [`target b: no successful poll yet; ${WHY}`],
  ],
  [
    'when one target of several has been failing for long',
    [good('a'), watchedTarget({ target: 'b', lookAge: 1000, problem: 'x' })],
    [`target b: no successful poll for too long; ${WHY}`],
  ],
  [
    'when all targets fail, but for no longer than three intervals',
    [
      watchedTarget({ lookAge: 45, problem: 'x' }),
      watchedTarget({ target: 'b', facts: BEFORE_FIRST_LOOK, problem: 'x' }),
    ],
    [`target production: the last poll failed; ${WHY}`, `target b: no successful poll yet; ${WHY}`],
  ],
]

test.each(degraded)('/readyz is 200 and says degraded %s', async (_what, targets, problems) => {
  expect(await readyz(targets)).toEqual({ status: 200, body: { status: 'degraded', problems } })
})

const ready: [what: string, targets: WatchedTarget[]][] = [
  ['after a good look', [good()]],
  [
    'when a first look takes longer than ten minutes',
    [
      watchedTarget({
        facts: BEFORE_FIRST_LOOK,
        problem: 'reading',
        isReading: true,
        lookAge: 601,
        polledFor: 601,
      }),
    ],
  ],
  ['while a target that was read before reads its whole list', [watchedTarget({ problem: 'x', isReading: true })]],
]

test.each(ready)('/readyz is 200 %s', async (_what, targets) => {
  expect(await readyz(targets)).toEqual({ status: 200, body: { status: 'ready' } })
})

test('/readyz, which asks for no password, repeats nothing that the service said', async () => {
  const said = { problem: 'the service answered 500: <b>come in</b>', lookAge: 1000 }
  const { body } = await readyz([watchedTarget(said), watchedTarget({ ...said, target: 'b', storeFailed: true })])
  expect(JSON.stringify(body)).not.toContain('come in')
  expect((await readyz([watchedTarget(said)])).status).toBe(503)
})

test('/healthz is 200 whatever the targets do', async () => {
  const { url } = await serve([watchedTarget({ facts: BEFORE_FIRST_LOOK, problem: 'x', storeFailed: true })])
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
})

test('a daemon that can own no target is not ready, and says why', () => {
  const problem = 'the database cannot be reached'
  expect(readiness([good()], problem)).toEqual({ status: 'not ready', problems: [problem] })
})

test('/readyz goes by the targets that are this daemon’s own', async () => {
  const another = { ...watchedTarget({ target: 'b', facts: BEFORE_FIRST_LOOK }), isOwn: () => false }
  expect(await readyz([good(), another])).toEqual({ status: 200, body: { status: 'ready' } })
  expect(await readyz([another])).toEqual({ status: 200, body: { status: 'ready' } })
})
