import { expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../../src/clock/clock.ts'
import { connect } from '../../../../src/store/postgres/connection.ts'
import type { PassedHint } from '../../../../src/store/hint-channel.ts'
import type { StoreWithCluster } from '../../../../src/store/cluster-store.ts'
import { SOON } from '../../../kit/eventually.ts'
import { inPostgres } from '../../../kit/postgres/in-postgres.ts'
import { emptied, joined } from '../../../kit/store/postgres/daemon.ts'

const END: PassedHint = { target: 'a', hint: { id: 'call 1', trigger: 'call_ended' } }

inPostgres('hints that daemons pass to each other', (postgres) => {
  const newDatabase = emptied(postgres.newDatabase)

  function heardBy({ cluster: { hints } }: StoreWithCluster): PassedHint[] {
    const heard: PassedHint[] = []
    const subscription = hints.hints$.subscribe((some) => heard.push(...some))
    onTestFinished(() => subscription.unsubscribe())
    return heard
  }

  test('reach all of them, however many, but for one that is too long', async () => {
    const url = await newDatabase()
    const [one, two] = [await joined(url, 'one'), await joined(url, 'two')]
    const heard = [heardBy(one), heardBy(two)]
    const many = Array.from({ length: 500 }, (_, i) => ({ ...END, hint: { ...END.hint, id: `ü"\\ ${i}` } }))
    await Promise.all([...many, { ...END, target: 'x'.repeat(9000) }].map(one.cluster.hints.pass))
    await vi.waitFor(() => expect(heard.map(({ length }) => length)).toEqual([500, 500]), SOON)
    await two.cluster.hints.pass(END)
    await vi.waitFor(() => expect(heard.map(({ length }) => length)).toEqual([501, 501]), SOON)
    for (const hints of heard) expect(hints).toEqual(expect.arrayContaining([...many, END]))
  })

  test('are not what other programs say on the channel', async () => {
    const url = await newDatabase()
    const one = await joined(url, 'one')
    const heard = heardBy(one)
    const connection = await connect(url)
    onTestFinished(() => connection.close())
    const other = { target: 'a', hint: { id: '1', trigger: 'call_transferred' } }
    await connection.run("SELECT pg_notify('callwatch_hints', $1)", [JSON.stringify([other, END])])
    await vi.waitFor(() => expect(heard).toEqual([END]), SOON)
    heard.length = 0
    for (const text of ['', 'hello', '[{"target":1}]', '{}', '[{"target":"a","hint":{"id":"1","shows":"me"}}]'])
      await connection.run("SELECT pg_notify('callwatch_hints', $1)", [text])
    await one.cluster.hints.pass(END)
    await vi.waitFor(() => expect(heard).toEqual([END]), SOON)
  })

  test('are heard without a gap only since the last connection', async () => {
    const url = await newDatabase()
    let now = 1000
    const one = await joined(url, 'one', { clock: { ...systemClock, monotonic: () => now } })
    const { hints } = one.cluster
    expect(hints.hearsSince()).toBe(1000)
    const connection = await connect(url)
    onTestFinished(() => connection.close())
    now = 2000
    await connection.run(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    )
    await vi.waitFor(() => expect(hints.hearsSince()).toBe(Infinity), SOON)
    await vi.waitFor(() => one.cluster.renew('{}'), SOON)
    expect(hints.hearsSince()).toBe(2000)
    const heard = heardBy(one)
    await vi.waitFor(() => hints.pass(END), SOON)
    await vi.waitFor(() => expect(heard).toContainEqual(END), SOON)
  })
})
