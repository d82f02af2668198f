import { CONFIG, type Happening, type Mode, type RuleName } from './happenings.ts'

/** How long a drawn history is (seconds). */
export const LENGTH = 1500

/** Numbers from 0 to 1 (mulberry32). */
export function random(from: number): () => number {
  let seed = from
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What a drawn history knows of itself: what fires, how receivers answer, and what is configured. */
type Drawn = {
  live: { target: number; rule: RuleName }[]
  receivers: Map<string, Mode>
  /** How receivers answered when they were removed. */
  removed: Map<string, Mode>
  nameB: 'B' | 'B2'
  /** The targets on which an outage is pending, and when it fires. */
  pending: Set<number>
  fires: number | undefined
  /** When an alert ended last. */
  endedAt: number
}

/** Draws a history from a seed. */
export function drawHistory(seed: number, length = LENGTH): [number, Happening][] {
  const rnd = random(seed)
  const dice: Dice = {
    rnd,
    chance: (share) => rnd() < share,
    pick: (list) => list[Math.floor(rnd() * list.length)]!,
    below: (n) => Math.floor(rnd() * n),
  }
  const style = {
    flap: rnd() < 0.3,
    silence: rnd() < 0.5,
    faults: rnd() < 0.6,
    reload: rnd() < 0.4,
    crash: rnd() < 0.3,
    outage: rnd() < 0.3,
    receivers: rnd() < 0.25,
  }
  const receivers = new Map<string, Mode>([
    ['r0', 'ok'],
    ['r1', 'ok'],
  ])
  const drawn: Drawn = { live: [], receivers, removed: new Map(), nameB: CONFIG.nameB, pending: new Set(), fires: undefined, endedAt: 0 } // oxfmt-ignore
  return Array.from({ length }, (_, second) => {
    const at = { second, drawn, dice, style }
    const steps = [alertsIn, outageIn, silencesIn, answersIn, crashesIn, reloadsIn, receiversIn]
    return steps.flatMap((step) => step(at)).map((happening): [number, Happening] => [second, happening])
  }).flat()
}

type Dice = {
  rnd: () => number
  chance: (share: number) => boolean
  pick: <T>(list: readonly T[]) => T
  below: (n: number) => number
}
type Style = Record<'flap' | 'silence' | 'faults' | 'reload' | 'crash' | 'outage' | 'receivers', boolean>
type At = { second: number; drawn: Drawn; dice: Dice; style: Style }

/** Nothing happens if it fires already. */
function fire(drawn: Drawn, target: number, rule: RuleName): Happening[] {
  if (drawn.live.some((one) => one.target === target && one.rule === rule)) return []
  drawn.live.push({ target, rule })
  return [{ do: 'fire', target, rule }]
}

function alertsIn({ second, drawn, dice, style }: At): Happening[] {
  const happened: Happening[] = []
  if (dice.chance(style.flap ? 0.03 : 0.006)) {
    const target = dice.below(3)
    happened.push(...fire(drawn, target, dice.pick(['AW', 'AC', drawn.nameB] as const)))
  }
  for (const one of drawn.live) {
    if (!dice.chance(style.flap ? 0.02 : 0.005)) continue
    drawn.live = drawn.live.filter((other) => other !== one)
    drawn.endedAt = second
    happened.push({ do: 'end', ...one })
  }
  return happened
}

function outageIn({ second, drawn, dice, style }: At): Happening[] {
  const happened: Happening[] = []
  if (style.outage && dice.chance(0.002)) {
    const target = dice.below(3)
    drawn.pending.add(target)
    drawn.fires = second + 25
    happened.push({ do: 'pend', target })
  }
  if (drawn.fires !== second) return happened
  const targets = [...drawn.pending]
  drawn.pending.clear()
  for (const target of targets) fire(drawn, target, 'OUT')
  return [...happened, ...targets.map((target): Happening => ({ do: 'fire', target, rule: 'OUT' }))]
}

function silencesIn({ second, dice, style }: At): Happening[] {
  if (!style.silence || !dice.chance(0.005)) return []
  const [target, rule] = [dice.pick([undefined, 0, 1]), dice.pick([undefined, 'AW', 'AC', 'B'] as const)]
  return [{ do: 'silence', target, rule, until: second + 20 + dice.below(400) }]
}

function answersIn({ drawn, dice, style }: At): Happening[] {
  const happened: Happening[] = []
  const { receivers } = drawn
  const answer = (receiver: string, mode: Mode) => {
    receivers.set(receiver, mode)
    happened.push({ do: 'answer', receiver, mode })
  }
  if (style.faults && dice.chance(0.008)) {
    const receiver = dice.pick([...receivers.keys()])
    answer(receiver, dice.pick(['lost', 'lostgone', 'hang', 'down', 'ok', 'ok'] as const))
  }
  for (const [receiver, mode] of receivers) if (mode !== 'ok' && dice.chance(0.03)) answer(receiver, 'ok')
  if (style.faults && dice.chance(0.003)) {
    const receiver = dice.pick([...receivers.keys()])
    happened.push({ do: 'refuse', receiver, subject: dice.pick(['A', 'B', undefined]) })
  }
  return happened
}

function crashesIn({ dice, style }: At): Happening[] {
  if (!style.crash || !dice.chance(0.004)) return []
  return [{ do: 'crash', point: dice.pick(['before send', 'after send', 'now'] as const) }]
}

function reloadsIn({ second, drawn, dice, style }: At): Happening[] {
  if (!style.reload || !dice.chance(0.003)) return []
  const what = dice.pick(['by', 'sevB', 'variant', 'rename'] as const)
  if (what === 'rename') return renamed(drawn, second)
  // All three are drawn, whichever is taken.
  const change = {
    by: { by: dice.pick(['rule', 'target'] as const) },
    sevB: { sevB: dice.pick(['warning', 'critical'] as const) },
    variant: { variant: dice.pick([0, 1, 2, 3] as const) },
  }[what]
  // A receiver may be told of what ended shortly before it was sent here: its cursor moves once a minute.
  if (what === 'variant' && second - drawn.endedAt < 2 * 60 + 10) return []
  return [{ do: 'reload', change }]
}

/** The alerts of a rule end with it, and fire by its new name. */
function renamed(drawn: Drawn, second: number): Happening[] {
  const nameB = drawn.nameB === 'B' ? 'B2' : 'B'
  const olds = drawn.live.filter(({ rule }) => rule === drawn.nameB)
  drawn.live = drawn.live.filter((one) => !olds.includes(one))
  drawn.nameB = nameB
  if (olds.length > 0) drawn.endedAt = second
  return [
    ...olds.map((one): Happening => ({ do: 'end', ...one })),
    { do: 'reload', change: { nameB } },
    ...olds.flatMap(({ target }) => fire(drawn, target, nameB)),
  ]
}

function receiversIn({ drawn, dice, style }: At): Happening[] {
  if (!style.receivers || !dice.chance(0.003)) return []
  const [from, to] = drawn.receivers.has('r1') ? [drawn.receivers, drawn.removed] : [drawn.removed, drawn.receivers]
  to.set('r1', from.get('r1')!)
  from.delete('r1')
  return [{ do: to === drawn.removed ? 'remove' : 'add', receiver: 'r1' }]
}
