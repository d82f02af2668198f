import { chance, whole } from './draw.ts'
import type { Life } from './life.ts'
import { entryAt, remove, sizeOf } from './listing.ts'
import { random } from './random.ts'
import { reach } from './reached.ts'
import type { Conduct, World } from './world.ts'

/** The call with the id of one that was over before the service started, whose row it takes over; as it is where chance has it so. */
export function withReusedId({ options, listing, startMs, reached }: World, life: Life, conduct: Conduct): Life {
  if (conduct.reusedIds === 0 || life.initiatedMs <= startMs) return life
  const stream = random(options.seed, 'reused id', life.sessionId)
  if (!chance(stream, conduct.reusedIds)) return life
  const places = Array.from({ length: sizeOf(listing) }, (_none, index) => entryAt(listing, index))
  const over = places.filter((entry) => !entry.life && !entry.furtherRow && entry.endedMs < startMs - 1000)
  const earlier = over[whole(stream, 0, Math.max(0, over.length - 1))]
  if (!earlier) return life
  remove(listing, earlier)
  reach(reached, 'list.reused_id')
  const { sessionId, type, mode, receiverType } = earlier.call
  return { ...life, sessionId, type, mode, receiverType }
}
