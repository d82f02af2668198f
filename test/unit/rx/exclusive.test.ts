import { EMPTY, map, merge, of, ReplaySubject } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'
import { expect, test } from 'vitest'
import { exclusive } from '../../../src/rx/exclusive.ts'

// A poll takes four frames and emits p at its end, a hinted request takes three and emits h. x is a poll that was skipped.
test.each<[string, { polls: string; hinted: string; draining?: string; out: string }]>([
  ['a poll that is due while one runs is skipped', { polls: 'a-a---|', hinted: '------|', out: '--x-p-|' }],
  [
    'a hinted request that is due while a poll runs begins after it',
    { polls: 'a-----|', hinted: '--a---|', out: '----p--(h|)' },
  ],
  [
    'a poll that is due while a hinted request runs begins after it',
    { polls: '-a----|', hinted: 'a-----|', out: '---h---(p|)' },
  ],
  [
    'of the polls that are due while a hinted request runs, one waits',
    { polls: '-aa---|', hinted: 'a-----|', out: '--xh---(p|)' },
  ],
  [
    'a hinted request that is due while one runs or waits is left out',
    { polls: 'a-----|', hinted: '-aa---|', out: '----p--(h|)' },
  ],
  ['each runs after the other', { polls: 'a----a|', hinted: '-a----|', out: '----p--h---(p|)' }],
  ['a job that fails ends them', { polls: 'a-----|', hinted: '--e---|', out: '----(p#)' }],
  ['nothing begins while draining', { polls: 'a-----|', hinted: '--a---|', draining: '---a', out: '----p-|' }],
  ['what runs when draining begins ends', { polls: 'a-a---|', hinted: '------|', draining: '-a', out: '--x-p-|' }],
])('%s', (_name, { polls, hinted, draining = '', out }) => {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
  scheduler.run(({ cold, hot, expectObservable }) => {
    const polls$ = hot(polls).pipe(map(() => ({ kind: 'poll', run$: cold('----(p|)'), skipped$: of('x') })))
    const hinted$ = hot(hinted).pipe(
      map((value) => ({ kind: 'hinted', run$: value === 'e' ? cold('#') : cold('---(h|)'), skipped$: EMPTY })),
    )
    const draining$ = new ReplaySubject<unknown>(1)
    hot(draining).subscribe((value) => draining$.next(value))
    expectObservable(merge(polls$, hinted$).pipe(exclusive(draining$))).toBe(out)
  })
})
