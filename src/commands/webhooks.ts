import { systemClock } from '../clock/clock.ts'
import { isBefore, readCursor, START, writeCursor } from '../events/cursor.ts'
import { cursorSince } from '../events/read-events.ts'
import { webhookViews } from '../events/webhooks/webhook-views.ts'
import { openForCommand } from '../store/open-store.ts'
import type { CommandStore } from '../store/store.ts'
import type { StoredWebhook, UndeliveredEvent, WebhookChange } from '../store/webhook-store.ts'
import { formatSeconds, formatTime, plural } from '../text/format.ts'
import { deadLettersView, type WebhookView } from '../views/state/webhook-status.ts'
import { givenTime } from '../history/queries/parameters.ts'
import { subcommand, type Declare } from './command.ts'
import { UsageError } from './explain-error.ts'

/** Prints the state of each webhook of events. Its subcommands change webhooks. */
export const declareWebhooks: Declare = (webhooks, context) => {
  const { configured, print } = context
  webhooks.option('--json', 'print them as JSON', false).action(async ({ json, ...options }) => {
    await using store = await openForCommand((await configured(options)).store)
    const views = await webhookViews(store, systemClock.wall())
    if (json) print(JSON.stringify({ webhooks: views }, undefined, 2))
    else if (views.length === 0) print('no webhooks: none has run yet')
    else views.map(lineOf).forEach((line) => print(line))
  })
  const sub = (name: string, about: string) =>
    subcommand(webhooks, name, about).argument('<name>', 'name of the webhook')
  sub('dead', 'List the dead letters of a webhook')
    .option('--json', 'print them as JSON', false)
    .action(async (name, { json, ...options }) => {
      await using store = await openForCommand((await configured(options)).store)
      const document = deadLettersView(await deadLettersOf(store, await webhookIn(store, name)))
      if (json) print(JSON.stringify(document, undefined, 2))
      else if (document.dead_letters.length === 0) print('no dead letters')
      else
        for (const { id, attempts, problem } of document.dead_letters)
          print(`${id}: ${attempts} attempts; the last: ${problem}`)
    })
  sub('replay', 'Deliver events to a webhook again')
    .option('--since <time>', 'all events that were found since this date or time, or this long ago')
    .option('--dead', 'its dead letters')
    .action(async (name, { since, dead, ...options }) => {
      if ((dead === true) === (since !== undefined))
        throw new UsageError('which events? Expected either --since or --dead')
      await using store = await openForCommand((await configured(options)).store)
      print(since === undefined ? await replayDead(store, name) : await replaySince(store, name, since))
    })
  for (const [command, description] of [
    ['pause', 'Deliver nothing to a webhook until it is resumed; its events wait'],
    ['resume', 'Continue the deliveries to a webhook that is paused, or whose receiver answered 410'],
  ] as const)
    sub(command, description).action(async (name, options) => {
      const isPaused = command === 'pause'
      await using store = await openForCommand((await configured(options)).store)
      await change(store, name, async ({ progress: { paused: _before, ...progress } }) => ({
        progress: { ...progress, ...(isPaused && { paused: 'paused by a command' }) },
      }))
      print(isPaused ? `${name} is paused: its events wait, for events.retention at most` : `${name} continues`)
    })
}

async function replayDead(store: CommandStore, name: string): Promise<string> {
  let events = 0
  await change(store, name, async (webhook) => {
    const letters = await deadLettersOf(store, webhook)
    events = letters.length
    return { progress: webhook.progress, put: letters.map(revived) }
  })
  return `${name}: ${events} dead letters are delivered again`
}

async function replaySince(store: CommandStore, name: string, since: string): Promise<string> {
  const moment = givenTime('--since', since, 'UTC', systemClock.wall())
  const from = await cursorSince(store, moment)
  await change(store, name, async ({ progress }) => {
    const before = readCursor(progress.cursor) ?? START
    // Events that the webhook has not reached yet are never skipped.
    const cursor = isBefore(before, from) ? before : from
    return {
      progress: { ...progress, cursor: writeCursor(cursor) },
      removeFrom: { position: cursor.position, place: cursor.place + 1 },
    }
  })
  return `${name}: all events since ${formatTime(moment)} are delivered, again where they were`
}

async function webhookIn(store: CommandStore, name: string): Promise<StoredWebhook> {
  const all = await store.webhooks()
  const found = all.find((webhook) => webhook.name === name)
  if (found !== undefined) return found
  const names = all.map((webhook) => webhook.name).join(', ')
  throw new UsageError(
    `there is no webhook ${name} in the store; ${names === '' ? 'none has run yet' : `there is: ${names}`}`,
  )
}

/** A running daemon saves each second what it has delivered. Then the change is applied to the newer state. */
async function change(
  store: CommandStore,
  name: string,
  changed: (webhook: StoredWebhook) => Promise<Omit<WebhookChange, 'name' | 'revision'>>,
): Promise<void> {
  for (let isSaved = false; !isSaved;) {
    const webhook = await webhookIn(store, name)
    isSaved = await store.saveWebhook({ name, revision: webhook.revision, ...(await changed(webhook)) })
  }
}

function deadLettersOf(store: CommandStore, { name, dead }: StoredWebhook): Promise<UndeliveredEvent[]> {
  return store.undelivered(name, { dead: true, after: START, limit: dead })
}

function revived({ refusedSince: _before, ...event }: UndeliveredEvent): UndeliveredEvent {
  return { ...event, dead: false, attempts: 0 }
}

/** `crm: delivering, 3 pending (the oldest for 12s), 1 dead letter`. */
function lineOf(webhook: WebhookView): string {
  const { name, state, pending, oldest_pending_seconds: oldest, dead_letters: dead, problem } = webhook
  const since = oldest === undefined ? '' : ` (the oldest for ${formatSeconds(oldest)})`
  return `${name}: ${state}, ${pending} pending${since}, ${plural(dead, 'dead letter')}${problem === undefined ? '' : `; ${problem}`}`
}
