import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { merge, Subject } from 'rxjs'
import type { LiveAlert } from '../../src/alerts/alert.ts'
import { ruleSchema, type Rule } from '../../src/alerts/rule.ts'
import { systemClock as clock } from '../../src/clock/clock.ts'
import { deliver } from '../../src/notifications/delivery/deliver.ts'
import { messageRound } from '../../src/notifications/delivery/message-round.ts'
import { readNotified } from '../../src/notifications/delivery/notified.ts'
import { nowReader } from '../../src/notifications/delivery/now.ts'
import { newPauses } from '../../src/notifications/delivery/pauses.ts'
import { suppressionNotes } from '../../src/notifications/delivery/suppression-notes.ts'
import { grouping } from '../../src/notifications/grouping.ts'
import { openStore } from '../../src/store/open-store.ts'
import { answer, forkedWith } from './answer.ts'
import { measure } from './measure.ts'

/** What notifying took in some seconds: milliseconds of the longest turn of the event loop, and of the processor a second. */
export type Notifying = { turn: number; cpu: number; messages: number }

/** How often each target is polled (seconds): then its alerts are evaluated. */
const POLL_SECONDS = 10
const RULES = 33
const MODES = ['call', 'meet', 'presenter', 'other'] as const
const SIGNALS = ['calls_finished', 'calls_started'] as const

/** All rules fire on all targets; each measures the same as another one of the other severity. */
const { path, targets, receivers } = forkedWith<{ path: string; targets: number; receivers: number }>()
const rules: Rule[] = Array.from({ length: RULES }, (_, n) =>
  ruleSchema.parse({
    name: `Rule${n}`,
    severity: n % 2 === 0 ? 'critical' : 'warning',
    signal: SIGNALS[n % 4 < 2 ? 0 : 1],
    window: '15m',
    above: 10 * (1 + (n % 2)),
    match: { type: n % 8 < 4 ? 'audio' : 'video', mode: MODES[Math.floor(n / 8) % MODES.length] },
  }),
)
const begun = clock.wall()
const live = new Map<number, readonly LiveAlert[]>()

function evaluate(n: number): void {
  const evaluatedAt = clock.wall()
  const shared = { state: 'firing', since: begun, firingSince: begun, credited: 0, evaluatedAt, peak: 110 } as const
  const value = 100 + (Math.round(evaluatedAt) % 10)
  const instances = rules.map((rule) => ({ ...shared, key: rule.name, labels: {}, rule, value }))
  live.set(
    n,
    instances.map((instance) => ({ target: `target-${n}`, instance })),
  )
}

/** In each second some of the targets are polled. */
function poll(second: number): void {
  for (let n = second % POLL_SECONDS; n < targets; n += POLL_SECONDS) evaluate(n)
}

for (let n = 0; n < targets; n++) evaluate(n)
const names = Array.from({ length: receivers }, (_, n) => `receiver-${n}`)
const store = await openStore({ path }, names)
const notified = await readNotified(names, { clock, store })
const groupOf = grouping({ groupBy: ['alert', 'severity'], groupWait: 5, groupInterval: 300 }, rules)
const alerts = () => [...live.values()].flat()
const read = nowReader({ clock, store, alerts, mutes: [], prepare: (alert) => void groupOf(alert) })
const options = {
  mask: (text: string) => text,
  note: suppressionNotes(store),
  clock,
  groupOf,
  rules,
  mutes: [],
  inhibit: [],
  targets: () => targets,
  fleet: () => [],
  freshFrom: () => clock.wall() - 3 * POLL_SECONDS,
  isSent: () => true,
  publicUrl: 'https://callwatch.test/',
  now: () => read(begun),
}
let messages = 0
async function send(): Promise<undefined> {
  await sleep(20)
  messages += 1
}
const sent = names.map((name) => {
  const round = messageRound({ name, send }, newPauses(clock), {
    ...options,
    notified: async () => notified.get(name)!,
  })
  return deliver([round], { clock, draining$: new Subject<void>() })
})
merge(...sent).subscribe()
let second = 0
setInterval(() => poll((second += 1)), 1000)
const turns = monitorEventLoopDelay({ resolution: 1 })

answer(async ({ seconds }: { seconds: number }): Promise<Notifying> => {
  turns.reset()
  turns.enable()
  messages = 0
  const { measured } = await measure(() => sleep(seconds * 1000))
  turns.disable()
  return { turn: turns.max / 1e6, cpu: (measured.cpu * 1000) / seconds, messages }
})
