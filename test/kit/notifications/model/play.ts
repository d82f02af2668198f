import { modelAlerts } from './alerts.ts'
import { CONFIG, type Config, type Happening, type History } from './happenings.ts'
import { modelLaws, type Violation } from './laws.ts'
import { modelReceiver, type Answers, type CrashPoint, type Outcome, type Receiver, type Sent } from './receiver.ts'

/** A message that has arrived, as both the model and the daemon log it. Alerts are named `t1/AW`. */
export type Logged = {
  at: number
  receiver: string
  kind: Sent['kind']
  begins: string[]
  ends: string[]
  was: string[]
}

const GONE: readonly Outcome[] = ['down', 'refused', 'lostgone', 'before send']

export type Given = { length: number; receivers?: readonly string[]; config?: Partial<Config> }

/** Plays a history in the model for so many seconds: what arrives, and the laws that are broken. */
export function playModel(
  history: History,
  { length, receivers: names = ['r0', 'r1'], config: given = {} }: Given,
): { log: Logged[]; violations: Violation[] } {
  let config: Config = { ...CONFIG, ...given }
  const alerts = modelAlerts(() => config)
  const laws = modelLaws(alerts, () => config)
  const log: Logged[] = []
  const receivers = new Map<string, Receiver>()
  const answers = new Map<string, Answers>()
  let crashPoint: CrashPoint | undefined
  /** The process dies in this second. */
  let dying: CrashPoint | 'now' | undefined
  /** After a reload nothing is sent until what is under way has come to its end. */
  let resumes = 0

  function sent(receiver: string, message: Sent, outcome: Outcome): void {
    laws.sent(receiver, message, outcome)
    if (!GONE.includes(outcome)) log.push({ receiver, ...inShort(message) })
    if (outcome !== 'before send' && outcome !== 'after send') return
    crashPoint = undefined
    dying = outcome
  }

  function add(name: string): void {
    const around = {
      alerts,
      config: () => config,
      crash: { next: () => crashPoint, isDying: () => dying !== undefined },
    }
    const own = answers.get(name) ?? { mode: 'ok', refuses: undefined }
    answers.set(name, own)
    laws.added(name)
    receivers.set(
      name,
      modelReceiver(name, around, own, (message, outcome) => sent(name, message, outcome)),
    )
  }

  /** Each receiver gets what is due. */
  function deliver(): void {
    if (alerts.now() < resumes) laws.disturbed()
    else for (const receiver of receivers.values()) receiver.deliver()
  }

  /** The same each second. A process that has died is started again. */
  function tick(): void {
    if (dying === undefined) deliver()
    if (dying === undefined) return
    start()
    tick()
  }

  function start(): void {
    dying = undefined
    resumes = 0
    for (const receiver of receivers.values()) receiver.restart()
    laws.crashed()
  }

  function reload(): void {
    laws.disturbed()
    for (const receiver of receivers.values()) receiver.reload()
    if (dying === undefined) deliver()
  }

  /** A receiver waits for the answers that are under way, also for those of others. */
  const drain = () => void (resumes = Math.max(resumes, ...receivers.values().map((one) => one.busyUntil())))

  function happen(happening: Happening): void {
    switch (happening.do) {
      case 'fire':
        return alerts.fire(happening.target, happening.rule)
      case 'end':
        return alerts.end(happening.target, happening.rule)
      case 'pend':
        return alerts.pend(happening.target)
      case 'silence':
        return alerts.silence(happening)
      case 'answer':
        return void Object.assign(answers.get(happening.receiver)!, { mode: happening.mode })
      case 'refuse':
        return void Object.assign(answers.get(happening.receiver)!, { refuses: happening.subject })
      case 'crash':
        if (happening.point === 'now') dying = 'now'
        else crashPoint = happening.point
        return undefined
      case 'reload': {
        const before = config
        config = { ...config, ...happening.change }
        if (JSON.stringify(before) === JSON.stringify(config)) return undefined
        drain()
        return reload()
      }
      case 'remove':
        drain()
        receivers.delete(happening.receiver)
        return reload()
      case 'add':
        drain()
        add(happening.receiver)
        return reload()
    }
  }

  for (const name of names) add(name)
  const bySecond = Map.groupBy(history, ([second]) => second)
  for (let second = 0; second < length; second += 1) {
    for (const [, happening] of bySecond.get(second) ?? []) happen(happening)
    alerts.tick([...answers.keys()])
    tick()
    for (const receiver of receivers.values()) laws.check(receiver)
  }
  return { log, violations: laws.violations }
}

function inShort({ at, kind, news, ends, firing, was }: Sent): Omit<Logged, 'receiver'> {
  const keys = (list: readonly { key: string }[]) => list.map(({ key }) => key).toSorted()
  const told = new Set([...news, ...ends, ...(kind === 'reminder' ? firing : [])].map(({ key }) => key))
  return { at, kind, begins: keys(news), ends: keys(ends), was: keys(was.filter(({ key }) => !told.has(key))) }
}
