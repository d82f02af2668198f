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

test('ids are the boot and a number that goes up by one', () => {
  const { ids } = publishedFeed(3)
  const [boot] = ids[0]!.split('-')
  expect(ids).toEqual([`${boot}-1`, `${boot}-2`, `${boot}-3`])
  expect(publishedFeed(1).ids[0]!.split('-')[0]).not.toBe(boot)
})

test('what came after an id is given, oldest first', () => {
  const { feed, ids } = publishedFeed(4)
  expect(numbers(feed.since(ids[1]))).toEqual([3, 4])
  expect(feed.since(ids[3])).toEqual([])
})

test('without an id there is nothing to make up for', () => {
  expect(publishedFeed(4).feed.since(undefined)).toEqual([])
})

test.each([5, 6, 9, 10, 11, 23])('after %i entries the last five can be resumed, and not one more', (count) => {
  const { feed, ids } = publishedFeed(count)
  const boot = ids[0]!.split('-')[0]
  expect(numbers(feed.since(`${boot}-${count - 5}`))).toEqual([count - 4, count - 3, count - 2, count - 1, count])
  if (count === 5) return
  expect(feed.since(`${boot}-${count - 6}`)).toEqual([{ id: `${boot}-${count}`, event: 'reset', data: {} }])
})

test('by default the last 10,000 can be resumed', () => {
  const feed = eventFeed()
  let last = ''
  feed.listen(({ id }) => (last = id))
  for (let n = 1; n <= 25_000; n++) feed.publish('transition', () => ({ n }))
  const boot = last.split('-')[0]
  expect(feed.since(`${boot}-15000`)).toHaveLength(10_000)
  expect(feed.since(`${boot}-14999`)).toEqual([expect.objectContaining({ event: 'reset' })])
})

test.each([
  ['another boot', (boot: string) => `${boot === 'ffffffff' ? 'eeeeeeee' : 'ffffffff'}-2`],
  ['the future', (boot: string) => `${boot}-4`],
  ['no number', (boot: string) => `${boot}-x`],
  ['nonsense', () => 'nonsense'],
  ['nothing', () => ''],
])('an id of %s gets one reset, from which on one can resume', (_what, idOf) => {
  const { feed, ids } = publishedFeed(3)
  const [reset, ...more] = feed.since(idOf(ids[0]!.split('-')[0]!))
  expect(more).toEqual([])
  expect(reset).toEqual({ id: ids[2], event: 'reset', data: {} })
  expect(feed.since(reset!.id)).toEqual([])
})

test('who stops listening hears nothing more', () => {
  const feed = eventFeed()
  const heard: string[] = []
  const stop = feed.listen(({ id }) => heard.push(id))
  feed.publish('alert', () => ({}))
  stop()
  feed.publish('alert', () => ({}))
  expect(heard).toHaveLength(1)
})

test('an entry is written as the event stream wants it, whatever its data hold', () => {
  const text = formatEvent({ id: 'b-1', event: 'transition', data: { text: 'two\nlines\r\n\nid: 5' } })
  expect(text).toBe('id: b-1\nevent: transition\ndata: {"text":"two\\nlines\\r\\n\\nid: 5"}\n\n')
})
