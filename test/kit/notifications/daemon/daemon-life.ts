import { NEVER, type Observable, type Subscription } from 'rxjs'
import type { Clock } from '../../../../src/clock/clock.ts'
import type { Config } from '../../../../src/config/config.ts'
import { notifying } from '../../../../src/daemon/notifying/notifying.ts'
import type { DaemonParts } from '../../../../src/daemon/parts.ts'
import { deliveryFailures } from '../../../../src/notifications/delivery/delivery-failures.ts'
import { keyOf, type MessageReceiver } from '../../../../src/notifications/receiver.ts'
import type { Cluster } from '../../../../src/store/cluster.ts'
import type { Database } from '../../../../src/store/sql.ts'
import { StoreError } from '../../../../src/store/store-error.ts'
import { storeOn } from '../../../../src/store/store-on.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { AlertWorld } from './alert-world.ts'

const busy = () => new StoreError('unavailable', 'the store is busy')
const never = new Promise<never>(() => undefined)

/** What the processes of a daemon share. */
export type Around = {
  clock: Clock
  sql: Database
  alerts: AlertWorld
  config: () => Config
  config$: Observable<Config>
  /** The methods of the store that fail now, and whether all writes do. */
  broken: { methods: readonly string[] | 'all'; writes: boolean }
}

export type Life = ReturnType<typeof daemonLife>

/** One process of the daemon, from its start to its death. */
export function daemonLife({ clock, sql, alerts, config, config$, broken }: Around) {
  const state = { isDead: false, leads: true, thinksToLead: true }
  let awake = Promise.resolve()
  let wake = (): void => undefined
  let receivers: readonly MessageReceiver[] = []
  let running: Subscription | undefined

  /** A dead process goes on with nothing, and a paused one once it is awake. */
  const alive = async (): Promise<void> => {
    await awake
    if (state.isDead) await never
  }

  /** The store as this process uses it. A write of the leader alone is refused if another process leads. */
  function storeOf(): Store {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a sender needs of a cluster
    const cluster = {
      senderFence: () => [{ statement: 'SELECT 1 WHERE 1 = $1', args: [state.leads ? 1 : 0], fence: 1 }],
    } as unknown as Cluster
    const unlessBroken =
      <Given extends unknown[], T>(work: (...given: Given) => Promise<T>) =>
      async (...given: Given): Promise<T> => {
        if (broken.writes) throw busy()
        return work(...given)
      }
    const own = {
      ...sql,
      batch: unlessBroken(sql.batch),
      transaction: unlessBroken(sql.transaction),
    }
    const { store } = storeOn(own, { receivers: undefined, reading: sql, cluster, clock })
    return new Proxy(store, {
      get: (all, name: string): unknown => {
        const method: unknown = Reflect.get(all, name)
        if (typeof method !== 'function') return method
        return async (...given: unknown[]): Promise<unknown> => {
          await alive()
          if (broken.methods === 'all' || broken.methods.includes(name)) throw busy()
          const result: unknown = await Reflect.apply(method, all, given)
          await alive()
          return result
        }
      },
    })
  }

  const expectLeader = async (): Promise<void> => {
    if (!state.leads) throw new StoreError('stale', 'another daemon is the leader')
  }
  const failures = deliveryFailures((text) => text)
  const targets = () => config().targets.map(({ name }) => name)
  const target = (name: string) => ({
    name,
    alerts: alerts.of(name),
    evaluationAge: () => 0,
    // It was set up long ago.
    ledger: { sync: { created: 0 } },
    pollAge: () => 0,
    health: () => ({ fault: undefined }),
  })
  const parts = {
    clock,
    store: storeOf(),
    failures,
    config,
    receivers: {
      all: () => receivers,
      names: () => receivers.map(({ name }) => name),
      keys: () => receivers.map(keyOf),
    },
    targets: { all: targets, loaded: () => targets().map(target) },
    overviews: { isComplete: () => true, others: () => [] },
    ownership: {
      isLeader: () => state.thinksToLead,
      wasLeader: () => state.thinksToLead,
      expectLeader,
      membership: () => undefined,
    },
    health: { latest: () => undefined },
    mask: (text: string) => text,
    draining$: NEVER,
  }

  return {
    failures,
    alive,
    isDead: () => state.isDead,
    receivers: () => receivers,
    setReceivers: (all: readonly MessageReceiver[]): void => void (receivers = all),
    start: (): void => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that notifying needs
      running = notifying(parts as unknown as DaemonParts, config$).subscribe()
    },
    /** The process dies at once. What it sends never returns. */
    die: (): void => {
      state.isDead = true
      running?.unsubscribe()
    },
    /** The process is halted, as a virtual machine is, and another one becomes the leader. */
    pause: (): void => {
      state.leads = false
      awake = new Promise((resolve) => (wake = resolve))
    },
    /** It goes on where it was, and does not know yet that it leads no more. */
    wake: (): void => wake(),
    /** It reads that another one leads. */
    learn: (): void => void (state.thinksToLead = false),
  }
}
