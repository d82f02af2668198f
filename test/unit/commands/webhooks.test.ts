import { describe, expect, test } from 'vitest'
import { completePoll, seen } from '../../kit/ledger/seen.ts'
import { openIn } from '../../kit/store/place.ts'
import { callwatch } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

const NOW = Date.now() / 1000
const HOUR = 3600

/** A store that a daemon uses, with four events an hour apart, the last one now. */
async function storeWithEvents() {
  const { store: daemon, config } = storeInUse()
  const { see, ledger } = await openIn(daemon)
  for (const hoursAgo of [3, 2, 1, 0]) {
    const at = NOW - hoursAgo * HOUR
    const poll = completePoll(ledger.sync.seq + 1, seen(`call ${hoursAgo}`, 'ongoing'))
    await see(poll, { events: { id: `${hoursAgo}h-ago`, at, texts: ['{"type":"call.lost","data":{}}'] } })
  }
  const webhooks = (...args: string[]) => callwatch(['events', 'webhooks', ...args, '--config', config])
  const progress = async () => (await daemon.webhooks())[0]!.progress
  const known = (cursor: string, more: object = {}) =>
    daemon.saveWebhook({ name: 'crm', revision: 0, progress: { cursor }, ...more })
  return { daemon, webhooks, known, progress }
}

const dead = {
  position: 2,
  place: 0,
  id: '2h-ago',
  series: 'a call',
  at: NOW - 2 * HOUR,
  dead: true,
  attempts: 11,
  problem: 'the webhook crm refused the message with 404',
  refusedSince: 5,
}

describe('events webhooks', () => {
  test('lists each, with what it has not got yet', async () => {
    const { webhooks, known, daemon } = await storeWithEvents()
    expect((await webhooks()).stdout).toBe('no webhooks: none has run yet\n')
    await known('2.0.2h-ago', { put: [dead] })
    const progress = { cursor: '4.0.0h-ago', paused: 'it answered 410' }
    await daemon.saveWebhook({ name: 'billing', revision: 0, progress })
    const { code, stdout, stderr } = await webhooks()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'billing: paused, 0 pending, 0 dead letters; it answered 410',
      expect.stringMatching(/^crm: delivering, 2 pending \(the oldest for 1h.*\), 1 dead letter$/),
      '',
    ])
    expect(JSON.parse((await webhooks('--json')).stdout)).toMatchObject({
      webhooks: [
        { name: 'billing', state: 'paused' },
        { name: 'crm', pending: 2, dead_letters: 1 },
      ],
    })
  })

  test('pause and resume one', async () => {
    const { webhooks, known, progress } = await storeWithEvents()
    await known('0')
    expect(await webhooks('pause', 'crm')).toMatchObject({ code: 0, stdout: expect.stringContaining('crm is paused') })
    expect(await progress()).toEqual({ cursor: '0', paused: 'paused by a command' })
    expect(await webhooks('resume', 'crm')).toMatchObject({ code: 0, stdout: 'crm continues\n' })
    expect(await progress()).toEqual({ cursor: '0' })
  })

  test('list dead letters, without what they are about, and replay them', async () => {
    const { webhooks, known, daemon } = await storeWithEvents()
    await known('4.0.0h-ago', { put: [dead] })
    const listed = await webhooks('dead', 'crm')
    expect(listed.stdout).toBe('2h-ago-0: 11 attempts; the last: the webhook crm refused the message with 404\n')
    const problem = 'the webhook crm refused the message with 404'
    expect(JSON.parse((await webhooks('dead', 'crm', '--json')).stdout)).toEqual({
      dead_letters: [{ id: '2h-ago-0', attempts: 11, problem }],
    })
    expect((await webhooks('replay', 'crm', '--dead')).stdout).toBe('crm: 1 dead letters are delivered again\n')
    const after = { position: 0, place: -1 }
    const [waiting] = await daemon.undelivered('crm', { dead: false, after, limit: 9 })
    expect(waiting).toEqual({
      position: 2,
      place: 0,
      id: '2h-ago',
      series: 'a call',
      at: dead.at,
      dead: false,
      attempts: 0,
      problem: dead.problem,
    })
    expect((await webhooks('dead', 'crm')).stdout).toBe('no dead letters\n')
  })

  test('replay what was found since a moment, each event once, but never leave out what is behind', async () => {
    const { webhooks, known, daemon, progress } = await storeWithEvents()
    await known('4.0.0h-ago', { put: [dead, { ...dead, position: 4, dead: false }] })
    expect(await webhooks('replay', 'crm', '--since', '90m')).toMatchObject({ code: 0 })
    expect(await progress()).toEqual({ cursor: '3.-1.1h-ago' })
    expect(await daemon.webhooks()).toMatchObject([{ waiting: 0, dead: 1 }])
    await webhooks('replay', 'crm', '--since', '10s')
    expect(await progress()).toEqual({ cursor: '3.-1.1h-ago' })
  })

  test.each([
    [['pause', 'erp'], 'there is no webhook erp in the store; there is: crm'],
    [['replay', 'crm'], 'which events? Expected either --since or --dead'],
    [['replay', 'crm', '--dead', '--since', '1h'], 'which events? Expected either --since or --dead'],
    [['replay', 'crm', '--since', '2026'], '--since 2026: expected a date such as 2026-11-01'],
    [['replay', 'crm', '--since', 'long'], '--since long: expected a date such as 2026-11-01'],
    [['dead'], "missing required argument 'name'"],
    [['stop', 'crm'], 'too many arguments'],
  ])('%j exits 2 with a sentence', async (args, sentence) => {
    const { webhooks, known, progress } = await storeWithEvents()
    await known('0')
    const { code, stderr } = await webhooks(...args)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
    expect(await progress()).toEqual({ cursor: '0' })
  })
})
