import { EMPTY, map, merge, of, ReplaySubject } from 'rxjs'
import { TestScheduler } from 'rxjs/testing'
import { expect, test } from 'vitest'
import { exclusive } from '../../src/rx/exclusive.ts'

// A poll takes four frames and emits p at its end, a look takes three and emits l. x is a poll that was skipped.
test.each<[string, { polls: string; looks: string; draining?: string; out: string }]>([
  ['a poll that is due while one runs is skipped', { polls: 'a-a---|', looks: '------|', out: '--x-p-|' }],
  ['a look that is due while a poll runs begins after it', { polls: 'a-----|', looks: '--a---|', out: '----p--(l|)' }],
  ['a poll that is due while a look runs begins after it', { polls: '-a----|', looks: 'a-----|', out: '---l---(p|)' }],
  [
    'of the polls that are due while a look runs, one waits',
    { polls: '-aa---|', looks: 'a-----|', out: '--xl---(p|)' },
  ],
  [
    'a look that is due while one runs or waits is left out',
    { polls: 'a-----|', looks: '-aa---|', out: '----p--(l|)' },
  ],
  ['each runs after the other', { polls: 'a----a|', looks: '-a----|', out: '----p--l---(p|)' }],
  ['a job that fails ends them', { polls: 'a-----|', looks: '--e---|', out: '----(p#)' }],
  ['nothing begins while draining', { polls: 'a-----|', looks: '--a---|', draining: '---a', out: '----p-|' }],
  ['what runs when draining begins ends', { polls: 'a-a---|', looks: '------|', draining: '-a', out: '--x-p-|' }],
])('%s', (_name, { polls, looks, draining = '', out }) => {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected))
  scheduler.run(({ cold, hot, expectObservable }) => {
    const polls$ = hot(polls).pipe(map(() => ({ kind: 'poll', run$: cold('----(p|)'), skipped$: of('x') })))
    const looks$ = hot(looks).pipe(
      map((value) => ({ kind: 'look', run$: value === 'e' ? cold('#') : cold('---(l|)'), skipped$: EMPTY })),
    )
    const draining$ = new ReplaySubject<unknown>(1)
    hot(draining).subscribe((value) => draining$.next(value))
    expectObservable(merge(polls$, looks$).pipe(exclusive(draining$))).toBe(out)
  })
})
