import { expect, test } from 'vitest'
import { eventFeed, formatEvent } from '../../src/web/event-feed.ts'

function publishedFeed(count: number, capacity = 5) {
  const feed = eventFeed(capacity)
  const ids: string[] = []
  feed.listen(({ id }) => ids.push(id))
  for (let n = 1; n <= count; n++) feed.publish('transition', () => ({ n }))
  return { feed, ids }
}

const numbers = (events: { data: object }[]) => events.map(({ data }) => ('n' in data ? data.n : undefined))

test('the id of an event is the boot of the feed and a number that increases by one', () => {
  const { ids } = publishedFeed(3)
  const [boot] = ids[0]!.split('-')
  expect(ids).toEqual([`${boot}-1`, `${boot}-2`, `${boot}-3`])
  expect(publishedFeed(1).ids[0]!.split('-')[0]).not.toBe(boot)
})

test('the feed resumes after an id with the later events, oldest first', () => {
  const { feed, ids } = publishedFeed(4)
  expect(numbers(feed.since(ids[1]))).toEqual([3, 4])
  expect(feed.since(ids[3])).toEqual([])
})

test('the feed resumes with nothing where there is no last id', () => {
  expect(publishedFeed(4).feed.since(undefined)).toEqual([])
})

test.each([5, 6, 9, 10, 11, 23])('a feed of capacity five resumes the last five of %i events, and no more', (count) => {
  const { feed, ids } = publishedFeed(count)
  const boot = ids[0]!.split('-')[0]
  expect(numbers(feed.since(`${boot}-${count - 5}`))).toEqual([count - 4, count - 3, count - 2, count - 1, count])
  if (count === 5) return
  expect(feed.since(`${boot}-${count - 6}`)).toEqual([{ id: `${boot}-${count}`, event: 'reset', data: {} }])
})

test('by default a feed resumes the last 10,000 events', () => {
  const feed = eventFeed()
  let last = ''
  feed.listen(({ id }) => (last = id))
  for (let n = 1; n <= 25_000; n++) feed.publish('transition', () => ({ n }))
  const boot = last.split('-')[0]
  expect(feed.since(`${boot}-15000`)).toHaveLength(10_000)
  expect(feed.since(`${boot}-14999`)).toEqual([expect.objectContaining({ event: 'reset' })])
})

test.each([
  ['another process', (boot: string) => `${boot === 'ffffffff' ? 'eeeeeeee' : 'ffffffff'}-2`],
  ['the future', (boot: string) => `${boot}-4`],
  ['a boot without number', (boot: string) => `${boot}-x`],
  ['another format', () => 'nonsense'],
  ['no characters', () => ''],
])('for an id of %s the feed answers with one reset, whose id can be resumed', (_what, idOf) => {
  const { feed, ids } = publishedFeed(3)
  const [reset, ...more] = feed.since(idOf(ids[0]!.split('-')[0]!))
  expect(more).toEqual([])
  expect(reset).toEqual({ id: ids[2], event: 'reset', data: {} })
  expect(feed.since(reset!.id)).toEqual([])
})

test('a listener receives no event after it stops', () => {
  const feed = eventFeed()
  const heard: string[] = []
  const stop = feed.listen(({ id }) => heard.push(id))
  feed.publish('alert', () => ({}))
  stop()
  feed.publish('alert', () => ({}))
  expect(heard).toHaveLength(1)
})

test('an event is one valid block of an event stream, whatever its data contain', () => {
  const text = formatEvent({ id: 'b-1', event: 'transition', data: { text: 'two\nlines\r\n\nid: 5' } })
  expect(text).toBe('id: b-1\nevent: transition\ndata: {"text":"two\\nlines\\r\\n\\nid: 5"}\n\n')
})
