import { join } from 'node:path'
import type { AlertInstance } from '../../../src/alerts/alert-instance.ts'
import { newDraft } from '../../../src/ledger/delta-draft.ts'
import { apply, type LedgerState } from '../../../src/ledger/state.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { firingOf, POLL_AGE } from '../../alerts/sample-rules.ts'
import { CREATED } from '../../ledger/seen.ts'
import { finish, finishedCall, NOW, openCall } from '../../metrics/hand-made-target.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export const DAY = 86_400
/** What has to be quoted in some place or other, and two letters that sort one way by bytes and the other by code units. */
export const TARGETS = ['a', 'Ä {"b", \\c}', '\u{ff00}', '\u{1f600}'].map((name) => ({
  name,
  fingerprint: `of ${name}`,
}))

/** More than goes through at a time. */
const CALLS = 1234

/** A store, closed, in which there is something of everything. @returns its file */
export async function filledStore(): Promise<string> {
  const path = join(temporaryFolder(), 'callwatch.db')
  const store = openSqliteStore({ path })
  for (const { name, fingerprint } of TARGETS) {
    const { ledger } = await store.openTarget({ name, fingerprint }, CREATED + 0.25, DAY)
    await fill(store, name, ledger)
  }
  await store.closeAlerts('a', [])
  const [, second] = await store.outbox('webhook')
  await store.claimOutbox([second!.id], true)
  await store.removeFromOutbox((await store.outbox('slack')).slice(-1).map(({ id }) => id))
  await store.putOutOnce('digest of a day', { kind: 'digest', digest: { text: 'é\u2028"' } }, ['slack'])
  for (const until of [NOW + 60.5, NOW + 1e6]) {
    await store.addSilence({ match: { alert: 'NoGoodPoll' }, since: NOW, until, reason: 'a\u0000b' })
  }
  await store.hold('https://calls.example key', NOW + 0.1 + 0.2)
  await store.close()
  return path
}

async function fill(store: Store, target: string, ledger: LedgerState): Promise<void> {
  const { delta, add, use } = newDraft(ledger.facts)
  for (let i = 0; i < CALLS; i++) {
    const id = `${['B', 'a', '_', 'é', '\u{ff00}', '\u{1f600}', '"\\', "'{,}"][i % 8]}${i}`
    const call = i % 5 === 0 ? openCall(id) : finishedCall(id, { finish: finish('rejected', i + 0.1) })
    delta.calls.set(id, call)
  }
  add('callwatch_calls_total|x', 0.1 + 0.2)
  add('callwatch_call_minutes_total|"\\{y}', 1e-7)
  add('callwatch_calls_started_total|z', 2 ** 53 - 1)
  use(1.1, NOW)
  use(2.2, NOW + 900)
  const notification = firingOf(POLL_AGE, target, CREATED, { value: 400, peak: 400 })
  await store.commit(target, {
    ledger: delta,
    alerts: { changed: [instance(target)], ended: [], notifications: [notification] },
    outgoing: [{ change: notification, to: ['slack', 'webhook'] }],
    evaluated: { kind: 'tick', at: NOW, pollAge: 42.5 },
  })
  apply(ledger, delta, DAY)
  const next = newDraft(ledger.facts).delta
  const forgotten = [...delta.calls.values()].filter(({ finish }) => finish !== undefined).slice(0, 100)
  const evaluated = { kind: 'tick', at: NOW + 7200, pollAge: 1 } as const
  await store.commit(target, {
    ledger: { ...next, forgotten },
    alerts: { changed: [], ended: [], notifications: [] },
    outgoing: [],
    evaluated,
  })
}

function instance(target: string): AlertInstance {
  return {
    key: `${POLL_AGE.name}{${target}}`,
    labels: {},
    rule: POLL_AGE,
    state: 'firing',
    since: CREATED,
    firingSince: CREATED,
    credited: 0,
    evaluatedAt: CREATED,
    value: 400,
    peak: 400,
    calls: undefined,
    counts: undefined,
    tooFewSince: undefined,
    toldAt: CREATED,
  }
}
