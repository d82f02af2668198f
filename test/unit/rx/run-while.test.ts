import { BehaviorSubject, concat, EMPTY, ignoreElements, NEVER, Observable, of, Subject, takeUntil } from 'rxjs'
import { expect, test } from 'vitest'
import { runWhile } from '../../../src/rx/run-while.ts'

/** Runs while a part is the same, and notes each start and end. `finish` lets a run end that must. */
function started() {
  const part$ = new BehaviorSubject({ value: 1 })
  const finish$ = new Subject<void>()
  const notes: string[] = []
  const run = ({ value }: { value: number }, draining$: Observable<unknown>) =>
    new Observable<never>((subscriber) => {
      notes.push(`begins ${value}`)
      const drained = draining$.subscribe(() => notes.push(`is to end ${value}`))
      const ending = concat(NEVER.pipe(takeUntil(draining$)), NEVER.pipe(takeUntil(finish$))).subscribe({
        complete: () => {
          notes.push(`ended ${value}`)
          subscriber.complete()
        },
      })
      return () => {
        drained.unsubscribe()
        ending.unsubscribe()
      }
    })
  let isComplete = false
  runWhile(part$, run).subscribe({ complete: () => (isComplete = true) })
  return { part$, finish$, notes, isComplete: () => isComplete }
}

test('a run continues while its part is equal', () => {
  const { part$, notes } = started()
  part$.next({ value: 1 })
  expect(notes).toEqual(['begins 1'])
})

test('a run whose part changed must end, and the next starts only after that', () => {
  const { part$, finish$, notes } = started()
  part$.next({ value: 2 })
  expect(notes).toEqual(['begins 1', 'is to end 1'])
  finish$.next()
  expect(notes.slice(2)).toEqual(['ended 1', 'begins 2'])
})

test('a part that was replaced before its run started never starts', () => {
  const { part$, finish$, notes } = started()
  part$.next({ value: 2 })
  part$.next({ value: 3 })
  finish$.next()
  expect(notes.slice(-2)).toEqual(['ended 1', 'begins 3'])
})

test('a part that changed back starts a new run, because the previous one must end', () => {
  const { part$, finish$, notes } = started()
  part$.next({ value: 2 })
  part$.next({ value: 1 })
  finish$.next()
  expect(notes).toEqual(['begins 1', 'is to end 1', 'ended 1', 'begins 1'])
})

test('runWhile completes when its source has completed and the last run has ended', () => {
  const { part$, finish$, isComplete } = started()
  part$.next({ value: 2 })
  part$.complete()
  expect(isComplete()).toBe(false)
  finish$.next()
  expect(isComplete()).toBe(false)
  const done: string[] = []
  runWhile(of('only'), (part) => concat(of(part), EMPTY.pipe(ignoreElements()))).subscribe({
    next: (event) => done.push(event),
    complete: () => done.push('complete'),
  })
  expect(done).toEqual(['only', 'complete'])
})
