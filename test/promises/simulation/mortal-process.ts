import type { Clock } from '../../../src/clock/clock.ts'
import type { Transport } from '../../../src/service/transport.ts'
import type { Store } from '../../../src/store/store.ts'

/** Where a process was when it died. */
export type DeathPlace = 'request' | 'answer' | 'before commit' | 'after commit'

/** One life of the daemon's process. Once it has ended, nothing that it began continues: as after kill -9, at any await. */
export type MortalProcess = {
  died: () => DeathPlace | undefined
  clock: Clock
  transport: (send: Transport) => Transport
  store: (store: Store) => Store
}

/**
 * @param draw from 0 to 1, drawn at every place where the process could die
 * @param risk chance of dying there
 */
export function mortalProcess(clock: Clock, draw: () => number, risk: number): MortalProcess {
  let place: DeathPlace | undefined
  const passes = (here: DeathPlace): boolean => {
    if (place === undefined && draw() < risk) place = here
    return place === undefined
  }
  /** Does the work between two places; a dead process waits for ever. */
  const between = async <T>(before: DeathPlace, after: DeathPlace, work: () => Promise<T>): Promise<T> => {
    if (!passes(before)) return never()
    const result = await work()
    return passes(after) ? result : never()
  }
  return {
    died: () => place,
    clock: {
      ...clock,
      scheduler: {
        now: () => clock.scheduler.now(),
        schedule: (work, delay, state) =>
          clock.scheduler.schedule(
            function (given) {
              if (place === undefined) work.call(this, given!)
            },
            delay ?? 0,
            state,
          ),
      },
    },
    transport: (send) => (request) => between('request', 'answer', () => send(request)),
    store: (store) => {
      const alive =
        <Arguments extends unknown[], T>(method: (...args: Arguments) => Promise<T>) =>
        async (...args: Arguments): Promise<T> =>
          place === undefined ? method(...args) : never()
      return {
        openTarget: alive(store.openTarget),
        renameTargets: alive(store.renameTargets),
        resetTarget: alive(store.resetTarget),
        evictedCalls: alive(store.evictedCalls),
        earlierCalls: alive(store.earlierCalls),
        summedCalls: alive(store.summedCalls),
        commit: (target, commit) => between('before commit', 'after commit', () => store.commit(target, commit)),
        notified: alive(store.notified),
        writeNotified: (change) => between('before commit', 'after commit', () => store.writeNotified(change)),
        noteEpisodes: alive(store.noteEpisodes),
        setReceivers: alive(store.setReceivers),
        strayTargets: alive(store.strayTargets),
        expireAlerts: alive(store.expireAlerts),
        silences: alive(store.silences),
        addSilence: alive(store.addSilence),
        editSilence: alive(store.editSilence),
        expireSilence: alive(store.expireSilence),
        finishedPerMinute: alive(store.finishedPerMinute),
        openCalls: alive(store.openCalls),
        pausedUntil: alive(store.pausedUntil),
        pauseUntil: alive(store.pauseUntil),
        events: alive(store.events),
        latestEvents: alive(store.latestEvents),
        deleteExpired: alive(store.deleteExpired),
        deleteEvents: alive(store.deleteEvents),
        size: alive(store.size),
        rows: alive(store.rows),
        newestEnd: alive(store.newestEnd),
        staleRollups: alive(store.staleRollups),
        saveRollups: (update) => between('before commit', 'after commit', () => store.saveRollups(update)),
        eraseParticipants: alive(store.eraseParticipants),
        webhooks: alive(store.webhooks),
        undelivered: alive(store.undelivered),
        saveWebhook: (change) => between('before commit', 'after commit', () => store.saveWebhook(change)),
        close: store.close,
      }
    },
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}
