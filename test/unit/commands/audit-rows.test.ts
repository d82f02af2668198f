import { describe, expect, test } from 'vitest'
import { rowCounter } from '../../../src/commands/audit/count-rows.ts'
import { targetLines } from '../../../src/commands/audit/report.ts'
import { auditView, targetAuditView, type ComparedCall } from '../../../src/views/commands/audit.ts'
import { CREATED, seen } from '../../kit/ledger/seen.ts'

const over = (id: string, endedAt: number) => seen(id, 'ended', { session: 'room', startedAt: CREATED, endedAt })

describe('an audit counts the rows of a list by what the service shows of them', () => {
  test('and equal ones, as on two pages, once', () => {
    const counter = rowCounter()
    counter.add([over('a', CREATED + 5), over('b', CREATED + 9), seen('c', 'ongoing')])
    counter.add([over('b', CREATED + 9)])
    expect(counter.byCall()).toEqual(new Map([['a', 1], ['b', 1]])) // oxfmt-ignore
  })

  test('so that two rows which were taken for one call differ', () => {
    const counter = rowCounter()
    counter.add([over('a', CREATED + 5), over('a', CREATED + 9)])
    expect(counter.byCall()).toEqual(new Map([['a', 2]]))
  })

  test.each([
    ['67 rows of 67 finished calls, and 0 calls in progress', [1, 1, 1], true],
    ['4 rows of 3 finished calls, and 0 calls in progress', [1, 2, 1], false],
  ])('and prints "%s"', (text, rows, equal) => {
    const calls = rows.map((count, n): ComparedCall => {
      const verdict: ComparedCall['verdict'] =
        count === 1
          ? { kind: 'equal' }
          : { kind: 'difference', discrepancies: [{ what: 'rows', counted: 1, served: count }] }
      return { seen: over(`call ${n}`, CREATED + n), counted: undefined, verdict, rows: count }
    })
    const more = text.startsWith('67') ? Array.from({ length: 64 }, () => calls[0]!) : []
    const nothing = { rejected: 0, lost: 0, notRequested: 0, orderUnverified: false }
    const report = targetAuditView({ ...nothing, target: 'a', horizon: CREATED, calls: [...calls, ...more] })
    expect(auditView([report]).equal).toBe(equal)
    expect(targetLines(report).join('\n')).toContain(text)
    if (!equal) expect(targetLines(report).join('\n')).toContain('rows: ledger 1, service 2')
  })

  test('and calls that finish between list and comparison, so that no part is larger than the whole', () => {
    const listed = (n: number, kind: 'equal' | 'open' | 'new', rows: number): ComparedCall => ({
      seen: over(`call ${n}`, CREATED + n),
      counted: undefined,
      verdict: { kind },
      rows,
    })
    const calls = [listed(1, 'equal', 1), listed(2, 'equal', 0), listed(3, 'open', 0), listed(4, 'new', 0)]
    const nothing = { rejected: 0, lost: 0, notRequested: 0, orderUnverified: false }
    const lines = targetLines(targetAuditView({ ...nothing, target: 'a', horizon: CREATED, calls }))
    expect(lines).toContain('  listed: 1 rows of 1 finished calls, and 3 calls in progress')
    expect(lines).toContain(
      '  all of these, once compared: 2 finished, 2 in progress, 0 baseline, 0 before the horizon, 0 lost in the ledger',
    )
  })
})
