import { modelAlerts } from './alerts.ts'
import { CONFIG, type Config, type Happening, type History } from './happenings.ts'
import { modelLaws, type Violation } from './laws.ts'
import { modelReceiver, type Outcome, type Receiver, type Sent } from './receiver.ts'
import type { Kind } from './table.ts'

/** A message that has arrived, as both the model and the daemon log it. Alerts are named `t1/AW`. */
export type Logged = {
  at: number
  receiver: string
  kind: Kind | 'unrouted'
  begins: string[]
  ends: string[]
  was: string[]
}

const GONE: readonly Outcome[] = ['down', 'refused', 'lostgone', 'before send']

/** Plays a history in the model for so many seconds: what arrives, and the laws that are broken. */
export function playModel(
  history: History,
  {
    length,
    receivers: names = ['r0', 'r1'],
    config: given = {},
  }: { length: number; receivers?: readonly string[]; config?: Partial<Config> },
): { log: Logged[]; violations: Violation[] } {
  let config: Config = { ...CONFIG, ...given }
  const alerts = modelAlerts(() => config)
  const laws = modelLaws(alerts, () => config)
  const log: Logged[] = []
  const receivers = new Map<string, Receiver>()
  const removed = new Map<string, Receiver>()
  let crashPoint: 'before send' | 'after send' | undefined

  function crash(): void {
    for (const receiver of receivers.values()) receiver.restart()
    laws.crashed()
  }

  function sent(receiver: string, message: Sent, outcome: Outcome): void {
    laws.sent(receiver, message, outcome)
    if (!GONE.includes(outcome)) log.push({ receiver, ...inShort(message) })
    if (outcome !== 'before send' && outcome !== 'after send') return
    crashPoint = undefined
    crash()
  }

  function add(name: string): void {
    const around = { alerts, config: () => config, crash: { next: () => crashPoint } }
    const receiver =
      removed.get(name) ??
      modelReceiver(name, around, {
        sent: (message, outcome) => sent(name, message, outcome),
        unrouted: (one) => {
          laws.unrouted(name, one)
          log.push({ at: alerts.now(), receiver: name, kind: 'unrouted', begins: [], ends: [one.key], was: [] })
        },
      })
    receiver.add()
    laws.added(name)
    receivers.set(name, receiver)
    removed.delete(name)
  }

  function happen(happening: Happening): void {
    switch (happening.do) {
      case 'fire':
        return alerts.fire(happening.target, happening.rule)
      case 'end':
        return alerts.end(happening.target, happening.rule)
      case 'pend':
        return void alerts.pending.add(happening.target)
      case 'silence':
        return alerts.silence(happening)
      case 'answer':
        return receivers.get(happening.receiver)?.answer(happening.mode)
      case 'refuse':
        return receivers.get(happening.receiver)?.refuse(happening.subject)
      case 'crash':
        return happening.point === 'now' ? crash() : void (crashPoint = happening.point)
      case 'reload':
        config = { ...config, ...happening.change }
        return laws.disturbed()
      case 'remove':
        removed.set(happening.receiver, receivers.get(happening.receiver)!)
        return void receivers.delete(happening.receiver)
      case 'add':
        return add(happening.receiver)
    }
  }

  for (const name of names) add(name)
  const bySecond = Map.groupBy(history, ([second]) => second)
  for (let second = 0; second < length; second += 1) {
    for (const [, happening] of bySecond.get(second) ?? []) happen(happening)
    alerts.tick([...receivers.keys(), ...removed.keys()])
    for (const receiver of receivers.values()) {
      receiver.deliver()
      laws.check(receiver)
    }
  }
  return { log, violations: laws.violations }
}

function inShort({ at, kind, news, ends, was }: Sent): Omit<Logged, 'receiver'> {
  const keys = (list: readonly { key: string }[]) => list.map(({ key }) => key).toSorted()
  return { at, kind, begins: keys(news), ends: keys(ends), was: keys(was) }
}
