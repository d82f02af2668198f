import { isDeepStrictEqual } from 'node:util'
import { Subject } from 'rxjs'
import type { Clock } from '../../../src/clock/clock.ts'
import { difference, type Settings } from '../../../src/store/settings.ts'
import type { ClusterStore, Member, Renewal } from '../../../src/store/cluster-store.ts'
import { OtherSettingsError } from '../../../src/store/store-error.ts'
import type { PassedHint } from '../../../src/store/hint-channel.ts'
import { StoreError } from '../../../src/store/store-error.ts'

export type MemoryCluster = {
  /** What one daemon has of the store; `isReachable` says whether it can be used by it now. */
  clusterStore: (lease: number, isReachable?: () => boolean) => ClusterStore
  /** Who owns a target by the store, by the member's id. */
  owners: ReadonlyMap<string, string>
  /** How often a target changed hands. */
  moves: () => number
}

/** What a shared store knows of its daemons, in memory, by one clock, as `ClusterStore` says it is. */
export function memoryCluster(clock: Clock): MemoryCluster {
  const members = new Map<string, Member & { ends: number; settings: Settings; declared: number }>()
  const owners = new Map<string, string>()
  const overviews = new Map<string, { text: string; number: number }>()
  const hints$ = new Subject<readonly PassedHint[]>()
  let published = 0
  let joined = 0
  let declarations = 0
  let moves = 0

  const bury = () => {
    for (const [id, { ends }] of members) if (ends <= clock.monotonic()) members.delete(id)
  }
  const differing = (own: Settings): Renewal['differing'] => {
    const [latest] = [...members.values()].toSorted((a, b) => b.declared - a.declared)
    const how = latest && difference(latest.settings, own)
    return how === undefined ? undefined : new OtherSettingsError(latest!.name, how)
  }

  function clusterStore(lease: number, isReachable = () => true): ClusterStore {
    let self = ''
    let own: Settings = {}
    const answer = async <T>(work: () => T): Promise<T> => {
      if (!isReachable()) throw new StoreError('unavailable', 'the database cannot be reached')
      return work()
    }
    return {
      lease,
      setUrl: () => undefined,
      join: (name, status, wanted) =>
        answer(() => {
          bury()
          const settings = wanted ?? own
          own = settings
          const differs = differing(settings)
          if (differs !== undefined) throw differs
          self = `${name} ${++joined}`
          const ends = clock.monotonic() + lease
          members.set(self, { id: self, name, status, ends, settings, declared: ++declarations })
        }),
      declare: (settings) =>
        answer(() => {
          if (isDeepStrictEqual(own, settings)) return
          own = settings
          const member = members.get(self)
          if (member !== undefined) Object.assign(member, { settings, declared: ++declarations })
        }),
      renew: (status) =>
        answer((): Renewal | undefined => {
          bury()
          const member = members.get(self)
          if (member === undefined) return undefined
          member.status = status
          member.ends = clock.monotonic() + lease
          const alive = [...owners].filter(([, owner]) => members.has(owner))
          return { members: [...members.values()], self, owners: new Map(alive), differing: differing(own) }
        }),
      expectLeader: (id) =>
        answer(() => {
          if ([...members.keys()][0] !== id) throw new StoreError('stale', 'another member is the leader')
        }),
      acquire: (targets, most) =>
        answer(() => {
          if (!members.has(self)) return []
          const free = targets.filter((target) => !members.has(owners.get(target) ?? '')).slice(0, most)
          for (const target of free) {
            owners.set(target, self)
            moves += 1
          }
          return free
        }),
      release: (targets) =>
        answer(() => {
          for (const target of targets) if (owners.get(target) === self) owners.delete(target)
        }),
      leave: () => answer(() => void members.delete(self)),
      addTargets: () => answer(() => undefined),
      numberEvents: () => answer(() => undefined),
      hints: {
        pass: (given) => answer(() => hints$.next([given])),
        hints$,
        hearsSince: () => (isReachable() ? -Infinity : Infinity),
      },
      publish: (given) =>
        answer(() => {
          for (const [target, text] of given) {
            if (owners.get(target) === self) overviews.set(target, { text, number: ++published })
          }
        }),
      overviewsSince: (cursor = '0') =>
        answer(() => {
          const changed = [...overviews].filter(([, { number }]) => number > Number(cursor))
          return {
            cursor: String(published),
            overviews: new Map(changed.map(([target, { text }]) => [target, text])),
          }
        }),
    }
  }
  return { clusterStore, owners, moves: () => moves }
}
