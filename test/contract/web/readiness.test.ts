import { expect, test } from 'vitest'
import type { TargetStatus } from '../../../src/pipeline/target.ts'
import { readiness } from '../../../src/web/readiness.ts'
import { serve, shownTarget } from '../../kit/web/serve.ts'

const successful = (target = 'production') => shownTarget({ target })
/** Before its initial sync has ended. */
const initial = (target: string, more: Parameters<typeof shownTarget>[0] = {}) =>
  shownTarget({ target, sync: {}, ...more })
const reading = (
  target: string,
  pagesRead: number,
  pages: number | undefined,
  more: Parameters<typeof initial>[1] = {},
) => ({
  ...initial(target, more),
  progress: () => ({ pagesRead, pages }),
})

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

const WHY = '/api/v1/state says why'

const full = { problem: 'the store x.db cannot be used: disk full', fault: 'store' } as const
const long = { problem: 'reading', pollAge: 601, polledFor: 601 }

test.each<[state: string, when: string, targets: TargetStatus[], problems?: string[]]>([
  ['not ready', 'before the initial sync has ended', [initial('a')], ['target a: the initial sync has not ended yet']],
  [
    'not ready',
    'while a long initial sync continues, even if a page of it failed',
    [
      reading('a', 12, 340),
      reading('b', 3, undefined, { problem: 'as it was when the cycle ended', fault: 'list', polledFor: 600 }),
      reading('c', 4, 9, { problem: 'page 5: 500', hasPage: true }),
    ],
    [
      'target a: the initial sync has read 12 of 340 pages',
      'target b: the initial sync has read 3 of an unknown number of pages',
      'target c: the initial sync has read 4 of 9 pages',
    ],
  ],
  [
    'not ready',
    'during the initial sync of one target of several',
    [successful('a'), initial('b')],
    ['target b: the initial sync has not ended yet'],
  ],
  [
    'not ready',
    'when every target has failed for longer than three intervals',
    [
      shownTarget({ target: 'a', pollAge: 46, problem: 'no answer from the service' }),
      shownTarget({ target: 'b', pollAge: 100 }),
      initial('c', { pollAge: 46, problem: 'the service answered 401' }),
    ],
    [
      `target a: no successful poll for too long; ${WHY}`,
      `target b: no successful poll for too long; ${WHY}`,
      `target c: no successful poll yet; ${WHY}`,
    ],
  ],
  [
    'not ready',
    "when the service's clock is not accepted for longer than ten minutes",
    [initial('a', { ...long, hasPage: true })],
    [`target a: no successful poll yet; ${WHY}`],
  ],
  [
    'not ready',
    'while the store cannot be written',
    [successful('a'), shownTarget({ target: 'b', ...full }), initial('c', { ...full, hasPage: true })],
    [`target b: the store cannot be written to; ${WHY}`, `target c: the store cannot be written to; ${WHY}`],
  ],
  [
    'degraded',
    'when a target without any successful poll fails, and others do not',
    [successful('a'), initial('b', { pollAge: 1000, problem: 'no answer' })],
    [`target b: no successful poll yet; ${WHY}`],
  ],
  [
    'degraded',
    'when one target of several has failed for long',
    [successful('a'), shownTarget({ target: 'b', pollAge: 1000, problem: 'x' })],
    [`target b: no successful poll for too long; ${WHY}`],
  ],
  [
    'degraded',
    'when all targets have failed for up to three intervals',
    [shownTarget({ target: 'a', pollAge: 45, problem: 'x' }), initial('b', { problem: 'x' })],
    [`target a: the last poll failed; ${WHY}`, `target b: no successful poll yet; ${WHY}`],
  ],
  ['ready', 'after a successful poll', [successful()]],
  [
    'ready',
    'when an initial sync takes longer than ten minutes',
    [initial('a', { ...long, sync: { clockSkew: 0 }, fault: 'list' })],
  ],
  ['ready', 'while a target sweeps its list again', [shownTarget({ problem: 'x', fault: 'list' })]],
])('/readyz is %s %s', async (state, _when, targets, problems) => {
  expect(await readyz(targets)).toEqual({
    status: state === 'not ready' ? 503 : 200,
    body: { status: state, problems },
  })
})

test('/readyz, which needs no password, contains no text of the service', async () => {
  const failing = { problem: 'the service answered 500: <b>come in</b>', pollAge: 1000 }
  const { body } = await readyz([shownTarget(failing), shownTarget({ ...failing, target: 'b', fault: 'store' })])
  expect(JSON.stringify(body)).not.toContain('come in')
  expect((await readyz([shownTarget(failing)])).status).toBe(503)
})

test('/healthz is 200 even if all targets fail', async () => {
  const { url } = await serve([initial('a', { problem: 'x', fault: 'store' })])
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
    problems: ['1 targets cannot be loaded from the store; /api/v1/state says why'],
  })
})
