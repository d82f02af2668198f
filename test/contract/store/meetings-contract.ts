import { describe, expect, test } from 'vitest'
import { sessionOf } from '../../../src/ledger/identity.ts'
import { BEFORE_LAST_MEETING, BEFORE_SECOND_MEETING, END, FORMS, happenedIn, polledMeetings } from './meetings.ts'
import type { NewPlace } from '../../kit/store/place.ts'

/** Everything that shows calls shows each call of a session. */
export function meetingsContract(newPlace: NewPlace): void {
  describe.each(FORMS)('four meetings of a group in one session, with rows of form %s,', (form) => {
    test('are four calls in counters, history, report, API, CSV, events and audit', async () => {
      const { until, shown } = await polledMeetings(form, await newPlace())
      await until(END)
      expect(await shown()).toEqual(happenedIn(form))
    })

    test.each([
      ['the first one is evicted before the second one begins', 15, BEFORE_SECOND_MEETING, 0],
      ['the first ones are evicted before the last one begins', 120, BEFORE_LAST_MEETING, 2],
    ])('are four calls if %s', async (_name, lookback, seconds, most) => {
      const { target, until, shown } = await polledMeetings(form, await newPlace(), { lookback })
      await until(seconds)
      const tracked = [...target().ledger.calls.values()].filter((call) => sessionOf(call) === 'standup')
      expect(tracked.length).toBeLessThanOrEqual(most)
      await until(END)
      expect(await shown()).toEqual(happenedIn(form))
    })
  })
}
