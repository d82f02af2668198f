import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Config } from '../../../src/config/config.ts'
import { basic } from '../../kit/web/serve.ts'
import { startWorld, type SimulatedWorld } from '../../kit/world/start-world.ts'
import { temporaryFolder } from '../../kit/store/temporary-folder.ts'
import { daemonInProcess, KEY, WAIT, type DaemonInProcess } from '../../kit/daemon/daemon-in-process.ts'

/**
 * Of the simulated world: they are in the ids of users and of their devices, in names and in addresses of avatars. Groups have names
 * and icons, too. In a file, the key of a series that ends with `|user`
 * may be followed by a number whose bytes read `-3`.
 */
const UIDS = /(?<!\|)user-\d+|Name of [\w-]+|avatars\.invalid/g
const EVENTS = { retention: 86_400, webhooks: [] }
const ON = { events: { ...EVENTS, participants: true } }
const OFF = { events: { ...EVENTS, participants: false } }

type Event = { id: string; type: string; data: { participant_list?: { uid: string; joined: boolean }[] } }

/** A daemon with its store in a file, and a world of calls that begin and end quickly; many answers have no list. */
async function watching(settings: Partial<Config>) {
  const path = join(temporaryFolder(), 'callwatch.db')
  const switches = { odd: { fields: 0.7 } }
  const service = await startWorld({ apiKey: KEY, callsPerMinute: 3000, speed: 30, switches })
  onTestFinished(service.close)
  const open = (next: Partial<Config>) =>
    daemonInProcess(service.url, {}, { store: { path, history: 86_400 }, log: { level: 'trace' }, ...next })
  return { service, path, open, running: await open(settings) }
}

async function get({ daemon }: DaemonInProcess, path: string): Promise<string> {
  return (await fetch(`${daemon.url}${path}`)).text()
}
async function eventsOf(running: DaemonInProcess, query = 'limit=1000'): Promise<Event[]> {
  return JSON.parse(await get(running, `api/v1/events?${query}`)).events
}
const uidsIn = (text: string) => [...new Set(text.match(UIDS))]
const uidsServed = (service: SimulatedWorld) => uidsIn(JSON.stringify(service.responses().map(({ body }) => body)))
/** The file of the store, and those beside it. */
const uidsOnDisk = (path: string) =>
  ['', '-wal', '-shm', '.lock'].flatMap((end) =>
    existsSync(path + end) ? uidsIn(readFileSync(path + end, 'latin1')) : [],
  )
const withList = (events: readonly Event[]) => events.filter(({ data }) => data.participant_list !== undefined)

describe('the participants of calls', () => {
  test('are in events where the configuration says so, in no line of the log and in no other answer', async () => {
    const { running, service } = await watching(ON)
    await running.reload({ log: { level: 'trace' } })
    const ofType = async (type: string) => withList(await eventsOf(running, `limit=1000&type=${type}`))
    await vi.waitFor(async () => {
      for (const type of ['call.ended', 'call.details']) expect(await ofType(type)).not.toEqual([])
      const missed = (await ofType('call.unanswered')).flatMap(({ data }) => data.participant_list)
      expect(missed).toContainEqual(expect.objectContaining({ joined: false }))
    }, WAIT)
    const events = withList(await eventsOf(running)).flatMap(({ data }) => data.participant_list!)
    const served = uidsServed(service)
    expect(served.filter((one) => one.startsWith('Name of group-')).length).toBeGreaterThan(3)
    const named = (text: string) => uidsIn(text).filter((one) => !/^user-\d+$/.test(one))
    expect(named(JSON.stringify(events))).toEqual([])
    expect(events.map(({ uid }) => uid).filter((uid) => uid !== undefined && !served.includes(uid))).toEqual([])
    for (const path of ['api/v1/state', 'api/v1/calls', 'metrics', ''])
      expect([path, uidsIn(await get(running, path))]).toEqual([path, []])
    expect(uidsIn(JSON.stringify(running.log))).toEqual([])
  })

  test('are nowhere by default: neither on disk, nor in any answer or line', async () => {
    const { running, service, path } = await watching(OFF)
    await running.reload({ log: { level: 'trace' } })
    await vi.waitFor(async () => expect((await eventsOf(running)).length).toBeGreaterThan(30), WAIT)
    expect(uidsServed(service).length).toBeGreaterThan(20)
    const answers = ['api/v1/events?limit=1000', 'api/v1/state', 'api/v1/calls', 'metrics', '']
    for (const answer of answers) expect([answer, uidsIn(await get(running, answer))]).toEqual([answer, []])
    expect(uidsOnDisk(path)).toEqual([])
    expect(uidsIn(JSON.stringify(running.log))).toEqual([])
    expect((await eventsOf(running)).map(({ type }) => type)).not.toContain('callwatch.call.details')
  })

  test('of whom a search finds, and for whom it was, its answer alone says something; the log says who searched', async () => {
    const auth = { username: 'ops', password: 'a long: password' }
    const { running, service, path } = await watching({
      ...OFF,
      http: { host: '127.0.0.1', port: 0, auth, find: true },
    })
    await running.reload({ log: { level: 'trace' } })
    const get = async (place: string) => (await fetch(`${running.daemon.url}${place}`, { headers: basic(auth) })).text()
    const uid = await vi.waitFor(() => {
      const one = uidsServed(service).find((each) => each.startsWith('user-'))
      expect(one).toBeDefined()
      return one!
    }, WAIT)
    const search = (query: string) => get(`api/v1/find?target=production&${query}`)
    for (const peopleFilters of ['honoured', 'ignored', 'refused'] as const) {
      service.setSwitches({ peopleFilters })
      expect(uidsIn(await search(`uid=${uid}`))).toContain(uid)
    }
    expect(uidsIn(await search('guid=user-4711'))).toEqual([])
    service.setSwitches({ fault: { error_200: 1 } })
    expect(JSON.parse(await search('session_id=user-4711')).detail).toContain('the service answered 200 ERR_INTERNAL')
    service.setSwitches({ fault: {} })
    await running.morePolls(2)
    for (const answer of ['api/v1/events?limit=1000', 'api/v1/state', 'api/v1/calls', 'metrics', ''])
      expect([answer, uidsIn(await get(answer))]).toEqual([answer, []])
    expect(uidsOnDisk(path)).toEqual([])
    expect(uidsIn(JSON.stringify(running.log))).toEqual([])
    const lines = running.log.map(({ msg }) => msg).filter((line) => line.includes('searched'))
    expect(lines).toHaveLength(5)
    expect(lines[0]).toBe('ops searched the service for calls of a user, a group or a session, from 127.0.0.1')
  })

  test.each([
    [
      'a reload',
      async ({ running }: Awaited<ReturnType<typeof watching>>) => {
        await running.reload(OFF)
        return running
      },
    ],
    [
      'a restart',
      async ({ running, open }: Awaited<ReturnType<typeof watching>>) => {
        await running.stop()
        return open(OFF)
      },
    ],
  ])('are erased by %s without the option, and the events stay', async (_what, turnOff) => {
    const watched = await watching(ON)
    await vi.waitFor(async () => expect(withList(await eventsOf(watched.running)).length).toBeGreaterThan(10), WAIT)
    watched.service.setSwitches({ arrivals: false })
    const before = await eventsOf(watched.running, 'limit=20')
    expect(uidsOnDisk(watched.path)).not.toEqual([])
    const running = await turnOff(watched)
    await vi.waitFor(async () => expect(withList(await eventsOf(running))).toEqual([]), WAIT)
    // While a reader needs the journal, it is not emptied. It is tried again after ten seconds.
    await vi.waitFor(() => expect(uidsOnDisk(watched.path)).toEqual([]), WAIT)
    expect((await eventsOf(running, 'limit=20')).map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await running.morePolls(3)
    expect(withList(await eventsOf(running))).toEqual([])
    // As one that is turned on again.
    watched.service.setSwitches({ arrivals: true })
    await running.reload(ON)
    await vi.waitFor(async () => expect(withList(await eventsOf(running))).not.toEqual([]), WAIT)
  })
})
