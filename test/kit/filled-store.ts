import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALL_LABELS } from '../../src/ledger/call.ts'
import { newDraft } from '../../src/ledger/delta/delta-draft.ts'
import { applyDelta, type LedgerState } from '../../src/ledger/state.ts'
import type { TrackedCall } from '../../src/ledger/tracked-call.ts'
import { quarterHourOf } from '../../src/ledger/usage.ts'
import { openSqliteStore } from '../../src/store/open-sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { firingOf, POLL_AGE } from './alerts/sample-rules.ts'
import { CREATED } from './ledger/seen.ts'
import { finish, finishedCall, NOW, openCall } from './metrics/hand-made-target.ts'
import { commitOf, DAY, instance } from './store/place.ts'
import { temporaryFolder } from './store/temporary-folder.ts'

/** What has to be quoted in some place or other, and two letters that sort one way by bytes and the other by code units. */
export const TARGETS = ['a', 'Ä {"b", \\c}', '\u{ff00}', '\u{1f600}'].map((name) => ({
  name,
  fingerprint: `of ${name}`,
}))

const keyOf = (target: string) => `${POLL_AGE.name}{${target}}`

/** More than are copied at a time. */
const CALLS = 1234

let filled: Promise<Uint8Array> | undefined

/** A store, closed, in which there is something of everything. @returns its file, the caller's own */
export async function filledStore(): Promise<string> {
  filled ??= fillStore()
  const path = join(temporaryFolder(), 'callwatch.db')
  writeFileSync(path, await filled)
  return path
}

async function fillStore(): Promise<Uint8Array> {
  const path = join(temporaryFolder(), 'filled.db')
  const store = openSqliteStore({ path })
  for (const identity of TARGETS) {
    const { ledger } = await store.openTarget(identity, CREATED + 0.25, DAY)
    await fillTarget(store, identity.name, ledger)
  }
  const expired = firingOf(POLL_AGE, 'a', CREATED, {
    kind: 'expired',
    key: keyOf('a'),
    expiredBecause: 'target removed',
    at: NOW + 0.1 + 0.2,
    episode: { threshold: 300, values: [[CREATED, null]] },
  })
  await store.expireAlerts('a', [expired])
  await store.noteEpisodes([
    {
      target: 'a',
      key: expired.key,
      since: CREATED,
      lines: '{"kind":"expired","receiver":"é\u2028","at":1}\n',
    },
  ])
  const { target, key, alert, labels, severity, firingSince } = firingOf(POLL_AGE, 'a', CREATED, { key: keyOf('a') })
  const told = { target, key, alert, labels, severity, firingSince, at: NOW + 0.1 + 0.2, thread: 'é\u2028"' }
  for (const [i, receiver] of ['slack', 'webhook'].entries()) {
    const accepted = receiver === 'slack'
    await store.writeNotified({
      rows: [{ id: `é ${i}`, receiver, accepted, data: JSON.stringify({ begun: [told], ended: [] }) }],
      receiver: {
        name: receiver,
        state: { added: CREATED + 0.1, cursor: NOW + 0.1 + 0.2, reports: { day: NOW }, setUps: { é: NOW } },
      },
    })
  }
  for (const until of [NOW + 60.5, NOW + 1e6]) {
    await store.addSilence({ match: { alert: 'NoGoodPoll' }, since: NOW, until, reason: 'a\u0000b' })
  }
  const put = [false, true].map((dead) => ({
    position: 2,
    place: Number(dead),
    id: 'é',
    series: 'a é',
    at: NOW + 0.1,
    dead,
    attempts: 3,
  }))
  await store.saveWebhook({ name: 'crm', revision: 0, progress: { cursor: '2.1.é', problem: 'a\u0000b' }, put })
  await store.pauseUntil('https://calls.example key', NOW + 0.1 + 0.2)
  await store.close()
  return readFileSync(path)
}

/** A call without a finish: open, lost or not counted. */
function openOrNot(id: string, i: number): TrackedCall {
  if (i % 15 === 5) return openCall(id, { phase: 'lost', retainUntil: NOW - i / 3 })
  return openCall(id, i % 15 === 10 ? { phase: 'baseline', endedAt: NOW - 7000, status: 'ended' } : {})
}

async function fillTarget(store: Store, target: string, ledger: LedgerState): Promise<void> {
  const { delta, add, use } = newDraft(ledger.sync)
  for (let i = 0; i < CALLS; i++) {
    const id = `${['B', 'a', '_', 'é', '\u{ff00}', '\u{1f600}', '"\\', "'{,}"][i % 8]}${i}`
    const labels = ALL_LABELS[i % ALL_LABELS.length]!
    const finished = { ...finish(i % 2 === 0 ? 'ended' : 'rejected', 30 * i + 0.1), labels, answerDelay: i % 7 }
    const call = i % 5 === 0 ? openOrNot(id, i) : finishedCall(id, { labels, finish: finished })
    delta.calls.set(id, call)
    const at = call.finish?.at ?? (call.phase === 'lost' ? call.retainUntil : undefined)
    if (at !== undefined) delta.stale.add(quarterHourOf(at))
  }
  add('callwatch_calls_total|x', 0.1 + 0.2)
  add('callwatch_call_minutes_total|"\\{y}', 1e-7)
  add('callwatch_calls_started_total|z', 2 ** 53 - 1)
  use(1.1, NOW)
  use(2.2, NOW + 900)
  const alert = { ...instance, key: keyOf(target) }
  const notification = firingOf(POLL_AGE, target, CREATED, { key: alert.key, value: 400, peak: 400 })
  const first = commitOf(delta, {
    alerts: { changed: [alert], ended: [], notifications: [notification] },
    evaluated: { kind: 'tick', at: NOW, pollAge: 42.5 },
    gap: { from: CREATED + 0.1, to: CREATED + 60.2 },
    events: {
      id: `id of ${target}`,
      at: NOW + 0.1,
      texts: ['{"a":"é\\n"}', '{}'],
      participants: ['', '[{"uid":"é"}]'],
    },
  })
  await store.commit(target, first)
  applyDelta(ledger, delta, DAY)
  const evicted = [...delta.calls.values()].filter((call) => call.finish !== undefined).slice(0, 100)
  const next = { ...newDraft(ledger.sync).delta, evicted }
  await store.commit(target, commitOf(next, { evaluated: { kind: 'tick', at: NOW + 7200, pollAge: 1 } }))
}
