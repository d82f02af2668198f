import type { Notification } from '../alerts/notification.ts'
import type { OutboxEntry } from '../store/store.ts'
import type { AlertMessage, PassedAlert, ToldAlert } from './message.ts'

/** What waits in the outbox of one alert, oldest first, and what is to become of it. */
export type Waiting = { entries: OutboxEntry[]; changes: Notification[] }

/** How the changes of one alert that wait come out together: as it is now, as a note in passing, or as nothing at all. */
export type Outcome =
  | { kind: 'told'; told: ToldAlert; isNew: boolean; firstAt: number }
  | { kind: 'passed'; passed: PassedAlert }
  | { kind: 'nothing' }

export type GatherOptions = {
  /** The host's clock (UNIX seconds). */
  now: number
  /** How long a firing alert waits for others (seconds); who is over again sooner is not told of at all. */
  groupWait: number
}

/**
 * What is to be said of one alert, given all of its changes that nobody was told of yet. Only how it is now matters; that
 * it came and went meanwhile is a number.
 */
export function outcomeOf({ entries, changes }: Waiting, { groupWait }: Pick<GatherOptions, 'groupWait'>): Outcome {
  const [first, last] = [changes[0]!, changes.at(-1)!]
  // One that may have been delivered before its process died counts as told: its end must be told as well.
  const wasTold = first.kind !== 'firing' || entries[0]!.claimed
  const ends = changes.filter(isEnd)
  if (!isEnd(last)) {
    const kind = first.kind === 'firing' || ends.length > 0 ? 'firing' : last.kind
    const told = { notification: { ...last, kind }, cameAndWent: ends.length }
    return { kind: 'told', told, isNew: !wasTold, firstAt: first.at }
  }
  const firings = changes.filter(({ kind }) => kind === 'firing')
  if (wasTold) {
    return {
      kind: 'told',
      told: { notification: last, cameAndWent: ends.length - 1 },
      isNew: false,
      firstAt: first.at,
    }
  }
  // By each end's own beginning: not every firing need have an end here.
  const lasted = ends.map(({ at, firingSince }) => at - firingSince)
  if (lasted.every((seconds) => seconds < groupWait)) return { kind: 'nothing' }
  const isWorse = (a: number, b: number) => (last.breach === 'above' ? a > b : a < b)
  const peak = ends.map((end) => end.peak).reduce((worst, value) => (isWorse(value, worst) ? value : worst))
  const passed = { notification: firings.at(-1)!, times: ends.length, peak, over: last.at }
  return { kind: 'passed', passed }
}

function isEnd({ kind }: Notification): boolean {
  return kind === 'resolved' || kind === 'closed'
}

/** What one message is made of, and which entries it settles. */
export type Gathered = { ids: number[]; message: Pick<AlertMessage, 'alerts' | 'passed'> | undefined }

/**
 * Puts together what is to be said of some alerts of one target and severity. A firing alert waits for `group_wait`, and
 * when it goes out takes the younger ones along.
 *
 * @returns undefined where nothing is ready yet
 */
export function gather(waiting: readonly Waiting[], options: GatherOptions): Gathered | undefined {
  const all = waiting.map((alert) => ({ alert, outcome: outcomeOf(alert, options) }))
  const isRipe = ({ outcome }: (typeof all)[number]) => {
    if (outcome.kind !== 'told' || !outcome.isNew) return true
    const age = options.now - outcome.firstAt
    // Where the clock was set back since, there is no telling how long it has waited.
    return age < 0 || age >= options.groupWait
  }
  const goes = all.some((each) => isNewFiring(each) && isRipe(each)) ? all : all.filter(isRipe)
  if (goes.length === 0) return undefined
  const idsOf = (some: typeof all) => some.flatMap(({ alert }) => alert.entries.map(({ id }) => id))
  // What the message does not speak of is not claimed with it: claimed counts as told.
  const unspoken = goes.filter(({ outcome }) => outcome.kind === 'nothing')
  if (unspoken.length > 0) return { ids: idsOf(unspoken), message: undefined }
  const outcomes = goes.map(({ outcome }) => outcome)
  const alerts = outcomes.flatMap((outcome) => (outcome.kind === 'told' ? outcome.told : []))
  const passed = outcomes.flatMap((outcome) => (outcome.kind === 'passed' ? outcome.passed : []))
  const isFiring = ({ notification }: ToldAlert) => !isEnd(notification)
  const ordered = [...alerts.filter(isFiring), ...alerts.filter((told) => !isFiring(told))]
  return { ids: idsOf(goes), message: { alerts: ordered, passed } }
}

function isNewFiring({ outcome }: { outcome: Outcome }): boolean {
  return outcome.kind === 'told' && outcome.isNew
}
