import { describe, expect, test } from 'vitest'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { BEFORE_LAST_MEETING, END, FORMS, HAPPENED, polledMeetings } from './meetings.ts'
import type { NewPlace } from './place.ts'

/** Everything that shows calls shows each call of a session. */
export function meetingsContract(newPlace: NewPlace): void {
  describe.each(FORMS)('four meetings of a group in one session, with rows of form %s,', (form) => {
    test('are four calls in counters, history, report, API, CSV, events and audit', async () => {
      const { until, shown } = await polledMeetings(form, await newPlace())
      await until(END)
      expect(await shown()).toEqual(HAPPENED)
    })

    test('are four calls if the first ones are evicted before the last one begins', async () => {
      const { target, until, shown } = await polledMeetings(form, await newPlace(), { lookback: 120 })
      await until(BEFORE_LAST_MEETING)
      const tracked = [...target().ledger.calls.values()].filter((call) => sessionOf(call) === 'standup')
      expect(tracked.length).toBeLessThan(3)
      await until(END)
      expect(await shown()).toEqual(HAPPENED)
    })
  })
}
