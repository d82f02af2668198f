import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { computeDelta } from '../../../src/ledger/compute-delta.ts'
import { apply } from '../../../src/ledger/state.ts'
import { packCommit, unpackCommit } from '../../../src/store/postgres/commit-log.ts'
import { contents } from '../../ledger/seen.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { anyObservations } from '../any-observations.ts'
import { A, commitOf, DAY, instance, notification, openIn, OPTIONS } from '../contract/place.ts'

test('a commit that was packed for the log is the very same, and moves the same ledger on by as much', async () => {
  const store = openSqliteStore({ path: ':memory:' })
  await fc.assert(
    fc.asyncProperty(anyObservations, async (observations) => {
      const [{ ledger: one }, { ledger: other }] = [await openIn(store, A), await openIn(store, A)]
      for (const observation of observations) {
        const delta = computeDelta(one, observation, OPTIONS)
        if (delta === undefined) continue
        const alerts = { changed: [instance], ended: [instance], notifications: [notification] }
        const unpacked = unpackCommit(packCommit({ ...commitOf(delta), alerts }))
        expect(unpacked).toStrictEqual({ ledger: delta, alerts })
        apply(one, delta, DAY)
        apply(other, unpacked!.ledger, DAY)
        expect(contents(other)).toEqual(contents(one))
      }
    }),
    { numRuns: 200 },
  )
  await store.close()
})
