import { expect, test } from 'vitest'
import { pollToEnd } from '../../../src/commands/poll-once.ts'

const partial = (pages: number, problem = `the list is being read: ${pages} of 383 pages so far`) =>
  ({
    report: {
      outcome: 'partial',
      successful: false,
      problem,
      fault: problem.startsWith('the list') ? 'list' : 'service',
    },
    pagesRead: pages,
  }) as const

test('a list is read to its end, however many polls that takes', async () => {
  let polls = 0
  const problem = await pollToEnd(async () => {
    polls += 1
    if (polls < 12) return partial(polls * 32)
    return { report: { outcome: 'complete', successful: true, problem: undefined }, pagesRead: 0 }
  })
  expect({ polls, problem }).toEqual({ polls: 12, problem: undefined })
})

test('polls that read no further page end, with what failed', async () => {
  let polls = 0
  expect(await pollToEnd(async () => partial(Math.min(316, ++polls * 100)))).toBe(
    'the list was not read: 6 polls read no page after 316 pages',
  )
  expect(polls).toBe(10)
  expect(await pollToEnd(async () => partial(40, 'the service answered 502'))).toBe('the service answered 502')
})

test('a poll that failed ends, with what failed', async () => {
  const report = {
    outcome: 'failed',
    successful: false,
    problem: 'the service answered 401',
    fault: 'service',
  } as const
  expect(await pollToEnd(async () => ({ report, pagesRead: 0 }))).toBe('the service answered 401')
})
