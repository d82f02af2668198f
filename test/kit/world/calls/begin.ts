import { write } from '../../../../src/simulator/calls/ledger.ts'
import type { Life } from '../../../../src/simulator/calls/life.ts'
import { beginCall, enlist, forget, remember, type Entry, type World } from '../../../../src/simulator/calls/world.ts'
import { keepPast } from '../answers/list-views.ts'
import { addBeside, besideOf, reach, type WorldState } from '../state.ts'
import type { Switches } from '../switches.ts'
import { drawFacts } from './facts.ts'
import { addFurtherRow, inSession, occupyRoom, withMid, withReusedId } from './sessions.ts'
import { calmed, turnedCourse } from './turn.ts'

/** A call begins, with the anomalies that chance gives it. */
export function begin(
  state: WorldState,
  world: World,
  { life: drawn, order }: { life: Life; order: number },
  switches: Switches,
): void {
  const { seed, speed } = world.options
  const plain = withReusedId(state, world, drawn, switches)
  const { life: own, names } = drawFacts(plain, switches.facts, { seed, key: plain.callId, speed })
  const further = inSession(state, world, own, switches)
  if (!further) return
  occupyRoom(world, further, switches)
  const life = withMid(further, switches, seed)
  for (const name of names) reach(state, `fact.${name}`)
  if (life.hasStartAlone === true) reach(state, 'times.started_alone')
  const entry = beginCall(world, life, order, switches, turnedCourse(life))
  addBeside(state, entry, life, world.nowMs)
  if (life.isDoubled) addFurtherRow(state, world, entry)
}

/** Whether something may happen to a call, as if nothing were wrong; what is wrong is done here. */
export function happens(
  state: WorldState,
  world: World,
  { entry, happening }: { entry: Entry; happening: string },
  switches: Switches,
): boolean {
  if (happening === 'unlisted') return leaves(state, world, entry, switches)
  if (switches.replicaLag + switches.getCallLag > 0 && entry.atMs !== -Infinity) keepPast(state, entry, world.nowMs)
  if (happening === 'vanished') hide(state, world, entry)
  return happening !== 'returned' || returns(state, world, entry, switches)
}

function hide({ hidden }: WorldState, world: World, entry: Entry): void {
  const { listing } = world
  hidden.add(entry)
  forget(world, entry)
  const place = listing.indexOf(entry)
  if (place >= 0) listing.splice(place, 1)
}

/** Shows the call again, in the list unless it is too old for it; false where calls of its age are unknown. */
function returns(state: WorldState, world: World, entry: Entry, { unlisted }: Switches): boolean {
  const tooOld = entry.beganMs <= state.unlistedUntilMs
  state.hidden.delete(entry)
  if (tooOld && unlisted === 'not_found') return false
  remember(world, entry)
  if (tooOld) world.unlisted.push(entry)
  else enlist(world, entry)
  return true
}

/**
 * A call leaves the list. It has no further anomalies: no list would show them. Where Get Call forgets it as well, a call
 * that is open, or has been over for less than half of its time on the list, has vanished: perhaps no poll has seen its end.
 */
function leaves(state: WorldState, world: World, entry: Entry, { unlisted }: Switches): boolean {
  const beside = besideOf(state, entry)
  if (beside.sameAs) return false
  const { nowMs } = world
  state.unlistedUntilMs = Math.max(state.unlistedUntilMs, entry.beganMs)
  if (unlisted === 'found') {
    beside.life = calmed(beside.life, nowMs)
    if (entry.course) entry.course = turnedCourse(beside.life)
    return true
  }
  const isSeen = nowMs - beside.life.endedMs > (nowMs - entry.beganMs) / 2
  write(world, isSeen ? 'unlisted' : 'vanished', entry)
  delete entry.course
  forget(world, entry)
  return false
}
