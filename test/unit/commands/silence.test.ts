import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { callwatch, configFile } from '../../kit/commands/callwatch.ts'
import { storeInUse } from '../../kit/commands/store-in-use.ts'

function silencing() {
  const { store: daemon, config } = storeInUse()
  const silence = (...args: string[]) => callwatch(['silence', ...args, '--config', config])
  return { daemon, silence }
}

describe('silence', () => {
  test('adds, lists and expires a silence beside the daemon, which sees it', async () => {
    const { daemon, silence } = silencing()
    const picked = ['--alert', 'NoGoodPoll', '--match', 'target=production', '--match', 'severity=critical']
    const added = await silence('add', ...picked, '--for', '2h', '--reason', 'the provider moves', '--author', 'ada')
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const line =
      /1: target=production, severity=critical, alert=NoGoodPoll, until \S+ \S+ UTC \(2h\), by ada: the provider moves/
    expect(added.stdout).toMatch(line)

    const now = Date.now() / 1000
    const [seen] = await daemon.silences(now)
    expect(seen).toMatchObject({ id: 1, author: 'ada', reason: 'the provider moves', match: { alert: 'NoGoodPoll' } })
    expect(seen!.until - now).toBeCloseTo(7200, -2)

    expect((await silence('list')).stdout).toMatch(/^1: target=production/)
    expect(await silence('expire', '1')).toMatchObject({ code: 0, stdout: 'silence 1 expired\n' })
    expect(await daemon.silences(Date.now() / 1000)).toEqual([])
    expect((await silence('list')).stdout).toBe('no active silences\n')
    const expired = await silence('list', '--since', new Date(Date.now() - 3_600_000).toISOString())
    expect(expired.stdout).toMatch(/^1: .*alert=NoGoodPoll, expired \S+ \S+ UTC, by ada: the provider moves\n$/)
    const { silences } = JSON.parse((await silence('list', '--since', '1h', '--json')).stdout)
    expect(silences).toMatchObject([{ id: 1, author: 'ada', reason: 'the provider moves', match: seen!.match }])
  })

  test('edits what is given', async () => {
    const { daemon, silence } = silencing()
    await silence('add', '--match', 'alert=~No.*', '--for', '2h', '--reason', 'the provider moves')
    expect((await silence('edit', '1', '--for', '4h')).stdout).toMatch(
      new RegExp(`^silence 1: alert=~No\\.\\*, until .* \\(4h\\), by ${userInfo().username}: the provider moves\n$`),
    )
    await silence('edit', '1', '--reason', 'it has moved', '--match', 'target=production')
    expect(await daemon.silences(Date.now() / 1000)).toMatchObject([
      { id: 1, match: { target: 'production' }, reason: 'it has moved', edits: 2 },
    ])
  })

  test.each([
    [
      ['add', '--match', 'alert=~(No.*', '--for', '1h'],
      'the regular expression is none that RE2 understands: missing closing )',
    ],
    [['add', '--match', 'alert=~Low.*', '--for', '1h'], 'no rule matches =~Low.*; there is: HighFailureRate'],
    [['edit', '7', '--for', '1h'], 'there is no active silence 7; `callwatch silence list` shows them'],
    [['edit', '7'], 'nothing to edit; expected --for, --reason, --alert, --match or --all'],
    [['add', '--alert', 'NoSuchRule', '--for', '1h'], 'there is no rule NoSuchRule; there is: HighFailureRate'],
    [['add', '--match', 'target=staging', '--for', '1h'], 'there is no target staging; there is: production'],
    [
      ['add', '--match', 'severity=urgent', '--for', '1h'],
      'there is no severity urgent; there is: critical, warning, info',
    ],
    [['add', '--match', 'type=voice', '--for', '1h'], 'there is no type voice; there is: audio, video, other'],
    [['add', '--for', '1h'], 'nothing to silence; expected --alert, --match, or --all for every alert'],
    [
      ['add', '--all', '--alert', 'NoCalls', '--for', '1h'],
      '--all together with --alert or --match; expected one of them',
    ],
    [
      ['add', '--alert', 'NoCalls', '--match', 'alert=StuckCalls', '--for', '1h'],
      '--alert and --match alert=… are the same',
    ],
    [['add', '--match', 'mode=meet', '--match', 'mode=call', '--for', '1h'], 'There is a value for mode already'],
    [['add', '--all', '--for', '367d'], 'a silence is for 366d at most'],
    [
      ['add', '--match', 'uid=x', '--for', '1h'],
      'It must be name=value or name=~expression, the name one of alert, severity, target',
    ],
    [['add', '--for', 'long'], 'It must be a duration such as 30m, 2h or 7d'],
    [['add', '--all'], "required option '--for <duration>' not specified"],
    [['expire', '7'], 'there is no active silence 7; `callwatch silence list` shows them'],
  ])('%j exits 2 with a sentence', async (args, sentence) => {
    const { silence } = silencing()
    const { code, stdout, stderr } = await silence(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
  })

  test('add silences every alert only with --all', async () => {
    const { daemon, silence } = silencing()
    const { code, stdout } = await silence('add', '--all', '--for', '30m')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^silence 1: every alert, until /) })
    expect(await daemon.silences(Date.now() / 1000)).toMatchObject([{ match: {} }])
  })

  test('list shows a silence in one line, without control and bidirectional characters', async () => {
    const { daemon, silence } = silencing()
    const since = Date.now() / 1000
    const reason = '\u001b[31mred\u0007\n2: every alert\u202e, \u2066back\u2069\u200f\u009b\u2028end'
    await daemon.addSilence({ match: { alert: 'No\u001bCalls' }, since, until: since + 60, reason })
    const { stdout } = await silence('list')
    expect(stdout).toMatch(/^1: alert=NoCalls, until .* UTC \(\d+[ms]\): \[31mred 2: every alert, back end\n$/)
  })

  test('list without a store exits 2 with a sentence', async () => {
    const config = configFile(`
targets: [{ name: production, base_url: 'http://127.0.0.1:1/v3', api_key: key }]
store: { path: nowhere.db }
`)
    const { code, stderr } = await callwatch(['silence', 'list', '--config', config])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('there is no store nowhere.db') })
  })
})
