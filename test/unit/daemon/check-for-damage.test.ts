import { pino } from 'pino'
import { Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { checkForDamage } from '../../../src/daemon/check-for-damage.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import type { Store } from '../../../src/store/store.ts'
import { virtualClock } from '../../kit/virtual-clock.ts'

/** A daemon a minute after its start, whose store is checked like that. */
async function started(check: (clock: ReturnType<typeof virtualClock>) => NonNullable<Store['check']>) {
  const clock = virtualClock()
  const written: { msg: string }[] = []
  const lines = () => written.map(({ msg }) => msg)
  const log = pino({ level: 'info' }, { write: (line: string) => void written.push(JSON.parse(line)) })
  const draining$ = new Subject<void>()
  const errors: unknown[] = []
  checkForDamage({ store: { check: check(clock) }, clock, log, draining$ }).subscribe({
    error: (error: unknown) => errors.push(error),
  })
  await clock.advance(59)
  expect(lines()).toEqual([])
  await clock.advance(1)
  return { clock, lines, errors, draining$ }
}

test('the check of the store for damage says in the log that it runs, how far it is, and how long it took', async () => {
  const { lines, errors } = await started((clock) => async (onTable) => {
    for (const [table, seconds] of [
      ['targets', 1],
      ['calls', 12],
      ['counters', 3],
    ] as const) {
      // oxfmt-ignore
      onTable(table, 'n of 3')
      await clock.advance(seconds)
    }
  })
  await expect.poll(lines).toHaveLength(3)
  expect(lines()).toEqual([
    'checking the store for damage',
    'checking the store for damage: table counters, n of 3',
    'checked the store for damage: found none (16.0 s)',
  ])
  expect(errors).toEqual([])
})

test('damage that it finds ends the daemon, as damage at the start does', async () => {
  const damaged = new StoreError('refused', 'here is damaged (page 7); restore it from a backup')
  const { errors, lines } = await started(() => async () => Promise.reject(damaged))
  expect(errors).toEqual([damaged])
  expect(lines()).toEqual(['checking the store for damage'])
})

test('the log says where it could not check the store; nothing else ends of that', async () => {
  const unavailable = new StoreError('unavailable', 'the check ended early (SIGKILL)')
  const { errors, lines } = await started(() => async () => Promise.reject(unavailable))
  expect(lines()).toEqual([
    'checking the store for damage',
    'the store was not checked for damage: the check ended early (SIGKILL)',
  ])
  expect(errors).toEqual([])
})

test('a daemon that stops before does not begin it', async () => {
  const clock = virtualClock()
  const draining$ = new Subject<void>()
  const check = async () => Promise.reject(new Error('it began'))
  checkForDamage({ store: { check }, clock, log: pino({ level: 'silent' }), draining$ }).subscribe()
  draining$.next()
  await clock.advance(100)
  expect(clock.waiting()).toBe(0)
})
