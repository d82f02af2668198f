import type { SimulatedWorld } from '../../kit/world/start-world.ts'
import { eventually } from '../../kit/eventually.ts'
import { parseExposition } from '../../kit/replay/exposition.ts'
import type { ChaosRun } from './chaos-run.ts'
import type { DaemonProcess } from '../../kit/daemon-process.ts'
import { textAt } from '../../kit/scraper.ts'

/** A running call says something new every second or two: after so many seconds without an event all have ended. */
const QUIET = 5
/** One message a second leaves for a receiver: after so many seconds without one, none waits for its turn. */
const SILENT = 5
/** Seconds that the longest call may take. */
const LONGEST_CALL = 90
/** The same of two sweeps: the limit allows one page of them a poll, and a poll that reads far beyond its joint takes two seconds. */
const SWEEPS = 180
/** The same of the last message and event: one that has failed seven times waits for a minute. */
export const DELIVERIES = 240

/**
 * Heals the service and the receivers, and waits for two complete polls after the end of every call, and until no notification is left.
 *
 * @returns what is left undone, a line each
 */
export async function settle(
  { simulator, slack, onCall, others }: ChaosRun,
  { url }: DaemonProcess,
): Promise<string[]> {
  slack.heal()
  onCall.heal()
  others.heal()
  const { undone, until } = await healServices([simulator])
  const complete = async () => (await seriesAt(url)).get('callwatch_polls_total{outcome="complete"}') ?? 0
  const before = await complete()
  // The one that is under way may have begun too early.
  await until('two complete polls', SWEEPS, async () => (await complete()) >= before + 2)
  const isSilent = silence(() => slack.attempts.length + onCall.attempts.length + others.messages())
  // Together, or new alerts would fire while the last event is delivered.
  await until('no alert, no message and no event are left', DELIVERIES, async () => {
    return (await isDelivered(url)) && (await isNothingLeft(url)) && isSilent()
  })
  if (undone.length > 0) undone.push(await textAt(`${url}api/v1/state`))
  return undone
}

/** Heals services, lets no more calls begin, and waits until all have ended. `until` adds to `undone` what does not occur. */
export async function healServices(simulators: readonly SimulatedWorld[]) {
  const undone: string[] = []
  const until = async (what: string, seconds: number, isSo: () => Promise<boolean>) => {
    await eventually(async () => ((await isSo()) ? true : undefined), seconds).catch((error: Error) => {
      undone.push(`${what}: ${error.message}`)
    })
  }
  for (const simulator of simulators) {
    simulator.heal()
    simulator.setSwitches({ arrivals: false, outage: false })
  }
  await until('every call has ended', LONGEST_CALL, async () => {
    const last = Math.max(...simulators.map((simulator) => simulator.ledger().at(-1)?.at ?? 0))
    return Date.now() / 1000 - last > QUIET
  })
  return { undone, until }
}

/** A function that says whether no message has come for a while. @param messages how many have come */
export function silence(messages: () => number): () => boolean {
  let last = { messages: messages(), at: Date.now() }
  return () => {
    if (messages() !== last.messages) last = { messages: messages(), at: Date.now() }
    return Date.now() - last.at > SILENT * 1000
  }
}

/** Whether a daemon has neither an alert nor a pending notification. */
export async function isNothingLeft(url: string): Promise<boolean> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what our own daemon answers
  const { alerts } = JSON.parse(await textAt(`${url}api/v1/state`)) as { alerts: unknown[] }
  const pending = [...(await seriesAt(url))].filter(([name]) => name.startsWith('callwatch_notifications_pending{'))
  return alerts.length === 0 && pending.length > 0 && pending.every(([, waiting]) => waiting === 0)
}

/** Whether the webhook has got all events. */
export async function isDelivered(url: string): Promise<boolean> {
  return (await seriesAt(url)).get('callwatch_webhook_pending_events{webhook="chaos"}') === 0
}

const seriesAt = async (url: string) => parseExposition(await textAt(`${url}metrics`))
