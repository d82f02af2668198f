import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyStore } from '../../../src/store/copy.ts'
import { openCopyDestination, openCopySource } from '../../../src/store/open-store.ts'
import { openSqliteStore } from '../../../src/store/open-sqlite.ts'
import { connect } from '../../../src/store/postgres/connection.ts'
import { inPostgres } from '../../kit/postgres/in-postgres.ts'
import { AFTER_TWO_MEETINGS, BEFORE_LAST_MEETING, END, FORMS, happenedIn, meetings, poller } from './meetings.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { placesIn } from '../../kit/store/postgres/daemon.ts'

inPostgres('four meetings of a group in one session', ({ newDatabase }) => {
  test.each(FORMS)(
    'with rows of form %s are four calls if the store is copied after the second one, and another daemon continues',
    async (form) => {
      const [world, path, url] = [meetings(form), join(temporaryFolder(), 'callwatch.db'), await newDatabase()]
      const file = openSqliteStore({ path })
      await (await poller(world, file)).until(AFTER_TWO_MEETINGS)
      await file.close()
      const [source, destination] = [await openCopySource({ path }), await openCopyDestination({ url })]
      expect((await copyStore(source, destination)).differences).toEqual([])
      await destination.close()
      await source.close()
      const place = await placesIn(async () => url)()
      const { until, shownIn } = await poller(world, await place.open())
      await until(END)
      expect(await shownIn(place)).toEqual(happenedIn(form))
    },
  )

  test.each(FORMS)(
    'with rows of form %s are four calls if another daemon takes over after the second one, and the first one polls once more',
    async (form) => {
      const [world, url] = [meetings(form), await newDatabase()]
      const place = await placesIn(async () => url)()
      const first = await poller(world, await place.open())
      await first.until(AFTER_TWO_MEETINGS)
      const connection = await connect(url)
      await connection.run('UPDATE callwatch.members SET ends = statement_timestamp()')
      await connection.close()
      const second = await poller(world, await place.open())
      await second.until(BEFORE_LAST_MEETING)
      const { seq } = first.target().ledger.sync
      await first.until(BEFORE_LAST_MEETING + 1)
      expect(first.target().ledger.sync.seq).toBe(seq)
      await second.until(END)
      expect(await second.shownIn(place)).toEqual(happenedIn(form))
    },
  )
})
