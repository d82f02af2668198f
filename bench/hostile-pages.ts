import { callAt, newestCall } from './processes/world.ts'
import { stillWorld } from './worlds.ts'

const now = Math.floor(Date.now() / 1000)
const world = stillWorld(500, now)

/** What List Calls may answer when the service is broken, or is another one. Each is one page. */
export const HOSTILE_PAGES: Readonly<Record<string, () => string>> = {
  '20,000 items without an id': () => pageOf(20_000, () => '{}'),
  '60,000 items without an id': () => pageOf(60_000, () => '{}'),
  '4,000 large items without an id': () => pageOf(4000, (i) => JSON.stringify({ note: 'x'.repeat(600), i: i % 7 })),
  'arrays 5 million deep': () => pageOf(1, () => '['.repeat(5e6) + ']'.repeat(5e6)),
  'arrays a million deep': () => pageOf(1, () => '['.repeat(1e6) + ']'.repeat(1e6)),
  'arrays 100,000 deep': () => pageOf(1, () => '['.repeat(1e5) + ']'.repeat(1e5)),
  '3 million empty arrays': () => pageOf(3_000_000, () => '[]'),
  'a text of 10 MB': () => pageOf(1, (i) => call(i, { note: 'x'.repeat(1e7) })),
  '5,000 calls of 50 participants': () => pageOf(5000, (i) => call(i, { participants: participants(50, i) })),
  '100 calls of 9,000 participants': () =>
    pageOf(100, (i) => call(i, { participants: Array.from({ length: 9000 }, () => ({})) })),
  '100 calls of 400 participants': () =>
    pageOf(100, (i) => call(i, { participants: Array.from({ length: 400 }, () => ({ uid: 'u' })) })),
  'a call with 250,000 fields': () =>
    pageOf(1, (i) => call(i, Object.fromEntries(Array.from({ length: 250_000 }, (_, j) => [`k${j}`, 1])))),
}

/** A page of a list that is as it should be, and has five. */
export function harmlessPage(page: number): string {
  return pageOf(page > 5 ? 0 : 100, (i) => call((page - 1) * 100 + i, {}), 500)
}

function pageOf(count: number, item: (i: number) => string, total = count): string {
  const items = Array.from({ length: count }, (_, i) => item(i))
  return `{"data":[${items.join(',')}],"meta":{"pagination":{"total":${total}}}}`
}

function call(i: number, fields: object): string {
  return JSON.stringify({ ...callAt(world, newestCall(world, now) - i, now), ...fields })
}

function participants(count: number, i: number): object[] {
  return Array.from({ length: count }, (_, j) => ({
    uid: `user-${i}-${j}`,
    totalAudioMinutes: 1.5,
    totalVideoMinutes: 2.25,
    totalDurationInMinutes: 3.75,
    deviceId: `70ecae89-b71c-4bb3-8220-b7c99ec1658f@rtc.test/u${j}`,
    isJoined: true,
    joinedAt: now - 600,
    leftAt: now - 300,
    state: 'ended',
  }))
}
