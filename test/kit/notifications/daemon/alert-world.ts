import { nameOf, type LiveAlert } from '../../../../src/alerts/alert.ts'
import type { AlertInstance } from '../../../../src/alerts/alert-instance.ts'
import { notificationOf, type Notification } from '../../../../src/alerts/notification.ts'
import type { Rule } from '../../../../src/alerts/rule.ts'
import type { Clock } from '../../../../src/clock/clock.ts'
import type { Config } from '../../../../src/config/config.ts'

/** A target by its number or its name. */
export type Target = number | string
export const targetNamed = (target: Target) => (typeof target === 'number' ? `t${target}` : target)

/** What an alert is of: its value, the calls in its window, and how long the breach had lasted when it fired (seconds). */
export type Breach = { value?: number; calls?: number; pending?: number; cause?: string }

export type AlertWorld = ReturnType<typeof alertWorld>

/** The alerts of all targets, which a test fires and ends. Each change is committed as a poll commits it. */
export function alertWorld({
  clock,
  config,
  commit,
}: {
  clock: Clock
  config: () => Config
  commit: (change: Notification) => Promise<void>
}) {
  const live = new Map<string, LiveAlert>()
  const find = (target: Target, key: string) => live.get(nameOf({ target: targetNamed(target), key }))
  const put = (one: LiveAlert) => void live.set(nameOf({ target: one.target, key: one.instance.key }), one)

  function ruleNamed(name: string): Rule {
    const rule = config().alerts.find((one) => one.name === name)
    if (rule === undefined) throw new Error(`there is no rule ${name}`)
    return rule
  }

  async function end(one: LiveAlert, change: Pick<Notification, 'kind' | 'expiredBecause'>): Promise<void> {
    const { instance, target } = one
    live.delete(nameOf({ target, key: instance.key }))
    const isResolved = change.kind === 'resolved'
    const last = isResolved ? { ...instance, ...measured(instance.rule, { value: instance.rule.clear }) } : instance
    await commit(notificationOf(change, { target, instance: last }, clock.wall()))
  }

  return {
    find,
    /** The alerts of a target by their keys, as its last poll left them, which was just now. */
    of: (target: string): ReadonlyMap<string, AlertInstance> => {
      const own = [...live.values()].filter((one) => one.target === target)
      return new Map(own.map(({ instance }) => [instance.key, { ...instance, evaluatedAt: clock.wall() }]))
    },
    targets: () => [...new Set([...live.values()].map(({ target }) => target))],
    /** The names of all alerts that fire: `t1/HighFailureRate`. */
    firing: () => [...live.values()].flatMap((one) => (one.instance.state === 'pending' ? [] : shortName(one))),
    fire: async (target: Target, name: string, breach: Breach = {}): Promise<void> => {
      const instance = firing(ruleNamed(name), clock.wall(), breach)
      const one = { target: targetNamed(target), instance }
      put(one)
      await commit(notificationOf({ kind: 'firing' }, one, clock.wall()))
    },
    /** Begins a breach that has not lasted long enough. */
    pend: (target: Target, name: string, breach: Breach = {}): void => {
      const { firingSince: _, ...instance } = firing(ruleNamed(name), clock.wall(), breach)
      put({ target: targetNamed(target), instance: { ...instance, state: 'pending' } })
    },
    /** Ends a pending breach without an alert. */
    unpend: (target: Target, name: string): void =>
      void live.delete(nameOf({ target: targetNamed(target), key: name })),
    end: async (target: Target, name: string, kind: 'resolved' | 'expired' = 'resolved'): Promise<void> => {
      const one = find(target, name)
      if (one === undefined) throw new Error(`${name} does not fire on ${targetNamed(target)}`)
      await end(one, kind === 'expired' ? { kind, expiredBecause: 'too few calls' } : { kind })
    },
    /** What the next poll shows of an alert. */
    see: (target: Target, name: string, now: Partial<AlertInstance>): void => {
      const one = find(target, name)!
      put({ ...one, instance: { ...one.instance, ...now } })
    },
    /** What the first polls after a reload find: rules that were removed or changed. */
    reload: async (): Promise<void> => {
      const rules = new Map(config().alerts.map((rule) => [rule.name, rule]))
      for (const one of live.values()) {
        const { rule: before } = one.instance
        const rule = rules.get(before.name)
        if (rule === undefined) await end(one, { kind: 'expired', expiredBecause: 'rule removed' })
        else put({ ...one, instance: { ...one.instance, rule } })
      }
    },
  }
}

const shortName = ({ target, instance }: LiveAlert) => `${target}/${instance.rule.name}`

function firing(rule: Rule, at: number, { pending = 0, cause, ...breach }: Breach): AlertInstance {
  const { value, ...rest } = measured(rule, breach)
  return {
    key: rule.name,
    labels: {},
    rule,
    state: 'firing',
    since: at - pending,
    firingSince: at,
    credited: 0,
    evaluatedAt: at,
    value,
    peak: value,
    ...rest,
    tooFewSince: undefined,
    values: [[at, value]],
    evidence: cause === undefined ? {} : { cause },
  }
}

/** A value beyond the threshold of a rule, with the calls that have it. */
function measured(rule: Rule, { value = beyond(rule), calls = 40 }: Breach) {
  if (rule.signal.name !== 'failure_ratio') return { value, calls: undefined, counts: undefined, compared: undefined }
  const rejected = Math.round(value * calls)
  const counts = { ended: calls - rejected, unanswered: 0, rejected, canceled: 0, other: 0, total: calls }
  return { value, calls, counts, compared: undefined }
}

function beyond({ breach, threshold, signal }: Rule): number {
  if (breach === 'below') return threshold / 2
  return signal.name === 'failure_ratio' ? (1 + threshold) / 2 : threshold + 1
}
