import type { Clock } from '../../src/clock/clock.ts'
import type { Beat, Member, Settings, Sharing } from '../../src/store/sharing.ts'
import { StoreError } from '../../src/store/store.ts'

export type MemoryCluster = {
  /** What one daemon has of the store; `isReachable` says whether it can be used by it now. */
  sharing: (lease: number, isReachable?: () => boolean) => Sharing
  /** Who owns a target by the store, by the member's id. */
  owners: ReadonlyMap<string, string>
  /** How often a target changed hands. */
  moves: () => number
}

/** What a shared store knows of its daemons, in memory, by one clock, as `Sharing` says it is. */
export function memoryCluster(clock: Clock): MemoryCluster {
  const members = new Map<string, Member & { ends: number }>()
  const owners = new Map<string, string>()
  let agreed: Settings = {}
  let joined = 0
  let moves = 0

  const bury = () => {
    for (const [id, { ends }] of members) if (ends <= clock.monotonic()) members.delete(id)
  }
  const differing = (own: Settings) =>
    [...new Set([...Object.keys(own), ...Object.keys(agreed)])].filter((name) => own[name] !== agreed[name])

  function sharing(lease: number, isReachable = () => true): Sharing {
    let self = ''
    let own: Settings = {}
    const answer = async <T>(work: () => T): Promise<T> => {
      if (!isReachable()) throw new StoreError('unavailable', 'the database cannot be reached')
      return work()
    }
    return {
      lease,
      join: (name, settings, note) =>
        answer(() => {
          bury()
          own = settings
          const differs = differing(settings)
          if (members.size > 0 && differs.length > 0) throw new StoreError('refused', `${differs.join(', ')} differs`)
          agreed = settings
          self = `${name} ${++joined}`
          members.set(self, { id: self, name, note, ends: clock.monotonic() + lease })
        }),
      declare: (settings) => answer(() => void (agreed = own = settings)),
      beat: (note) =>
        answer((): Beat | undefined => {
          bury()
          const member = members.get(self)
          if (member === undefined) return undefined
          member.note = note
          member.ends = clock.monotonic() + lease
          const alive = [...owners].filter(([, owner]) => members.has(owner))
          return { members: [...members.values()], self, owners: new Map(alive), differing: differing(own) }
        }),
      claim: (targets, most) =>
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
      missed: () => answer(() => []),
    }
  }
  return { sharing, owners, moves: () => moves }
}
