import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { END, FORMS, happenedIn, polledMeetings } from './meetings.ts'
import { placesInFiles } from '../../kit/store/sqlite/places-in-files.ts'

const newPlace = placesInFiles(openSqliteStore)

const DAY = 86_400

test.each([...FORMS.map((form) => [form, 15] as const), ['A', DAY], ['B', DAY]] as const)(
  'four meetings of a group in one session, with rows of form %s and a lookback of %i s, are four calls if the process dies after any commit',
  async (form, lookback) => {
    const whole = await polledMeetings(form, await newPlace(), { lookback })
    await whole.until(END)
    expect(whole.commits()).toBeGreaterThan(40)
    for (let diesAfter = 1; diesAfter <= whole.commits(); diesAfter++) {
      const { until, deaths, shown } = await polledMeetings(form, await newPlace(), { lookback, diesAfter })
      await until(END)
      expect([deaths(), await shown()], `it died after commit ${diesAfter}`).toEqual([1, happenedIn(form)])
    }
  },
)
