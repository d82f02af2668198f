import type { Silence } from '../../../src/alerts/match.ts'
import type { Notification } from '../../../src/alerts/notification.ts'
import type { Mute } from '../../../src/notifications/delivery/suppress.ts'
import { between, chance, pick, random, whole, type Random } from '../../../src/simulator/random.ts'
import type { Store } from '../../../src/store/store.ts'
import { MINUTE } from './hazard.ts'
import type { SimulatedReceiver } from './simulated-receiver.ts'
import { FAILURE_RULES } from './simulated-rules.ts'

/** From one moment to another, that one excluded (UNIX seconds by the host's clock). */
type Time = { from: number; to: number }

/** What an alert is silenced or muted by: an account of what was drawn, which the program has no part in. */
export type Suppressions = {
  mutes: readonly Mute[]
  /** Adds, edits and ends silences, and lets receivers fail and recover, now and then. */
  tick: () => Promise<void>
  /** When an alert was silenced or muted, of the time from one moment to another. */
  times: (alert: string, from: number, to: number) => Time[]
}

/** Chances in each tick. */
const ADDED = 0.05
const ENDED = 0.015
const EDITED = 0.015
/** What a silence or a mute matches; undefined: all alerts. */
const MATCHED = [...FAILURE_RULES.map(({ name }) => name), undefined]
const HOUR = 3600

/**
 * @param wall the host's clock (UNIX seconds)
 * @param isDrawn without it there are none
 */
export function suppressions(
  { seed, wall, isDrawn }: { seed: number; wall: () => number; isDrawn: boolean },
  store: Pick<Store, 'addSilence' | 'editSilence' | 'expireSilence'>,
  receivers: readonly SimulatedReceiver[],
): Suppressions {
  const draw = random(seed, 'suppressions')
  const silenced: (Time & { alert: string | undefined; silence: Silence })[] = []
  const muted = isDrawn ? drawMute(draw) : undefined
  const turns = new Map(receivers.map((receiver) => [receiver, 0]))

  async function changeSilences(now: number): Promise<void> {
    for (const each of silenced.filter(({ to }) => to > now)) {
      if (chance(draw, ENDED)) {
        if (await store.expireSilence(each.silence.id, now)) each.to = now
      } else if (chance(draw, EDITED)) {
        const alert = pick(draw, MATCHED)
        const { id, edits = 0 } = each.silence
        const silence = await store.editSilence(id, { match: matchOf(alert) }, now, edits)
        if (silence === undefined || silence === 'changed') throw new Error(`silence ${id} could not be edited`)
        silenced.push({ alert, silence, from: now, to: each.to })
        each.to = now
      }
    }
    if (!chance(draw, ADDED)) return
    const alert = pick(draw, MATCHED)
    const [from, to] = [now, now + between(draw, MINUTE, 20 * MINUTE)]
    const silence = await store.addSilence({ match: matchOf(alert), since: from, until: to, reason: 'drawn' })
    silenced.push({ alert, silence, from, to })
  }

  return {
    mutes: muted === undefined ? [] : [muted.mute],
    tick: async () => {
      if (!isDrawn) return
      const now = wall()
      for (const [receiver, turn] of turns) {
        if (now < turn) continue
        receiver.isDown = chance(draw, 0.7)
        turns.set(receiver, now + between(draw, 2 * MINUTE, 20 * MINUTE))
      }
      await changeSilences(now)
    },
    times: (alert, from, to) => [
      ...silenced.filter((each) => (each.alert ?? alert) === alert),
      ...(muted === undefined || (muted.alert ?? alert) !== alert ? [] : muted.times(from, to)),
    ],
  }
}

/** Each hour from a minute on and then again and again, for some minutes. */
function drawMute(draw: Random) {
  const every = pick(draw, [15, 20, 30])
  const first = whole(draw, 0, every - 1)
  const duration = whole(draw, 1, every - 3) * MINUTE
  const alert = pick(draw, MATCHED)
  const mute: Mute = { start: `${first}-59/${every} * * * *`, duration, timezone: 'UTC', match: matchOf(alert) }
  const times = (from: number, to: number): Time[] => {
    const all: Time[] = []
    for (let hour = Math.floor(from / HOUR) - 1; hour * HOUR <= to; hour++) {
      for (let minute = first; minute < 60; minute += every) {
        const start = hour * HOUR + minute * MINUTE
        all.push({ from: start, to: start + duration })
      }
    }
    return all
  }
  return { mute, alert, times }
}

function matchOf(alert: string | undefined) {
  return alert === undefined ? {} : { alert }
}

/** When an alert fired, from its changes. */
export function firingTimes(notified: readonly Notification[], alert: string): Time[] {
  const changes = notified.filter((each) => each.alert === alert)
  return changes.flatMap(({ kind, at }, i) =>
    kind === 'firing' ? { from: at, to: changes[i + 1]?.at ?? Infinity } : [],
  )
}

/** The times that an alert fired, and for how long nothing suppressed it in each (seconds). */
export function freeTimes(
  { times }: Suppressions,
  notified: readonly Notification[],
  alert: string,
  inhibitors: readonly string[],
): (Time & { free: number })[] {
  const inhibited = inhibitors.flatMap((name) => firingTimes(notified, name))
  return firingTimes(notified, alert).map(({ from, to }) => {
    const all = [...inhibited, ...times(alert, from, to)].toSorted((one, other) => one.from - other.from)
    let [free, reached] = [0, from]
    for (const time of all.filter((one) => one.to > from && one.from < to)) {
      free += Math.max(0, time.from - reached)
      reached = Math.max(reached, time.to)
    }
    return { from, to, free: free + Math.max(0, to - reached) }
  })
}
