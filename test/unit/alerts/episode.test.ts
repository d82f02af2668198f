import { describe, expect, test } from 'vitest'
import { endOf, episodeRow, type Episode } from '../../../src/alerts/episode.ts'
import type { Rule } from '../../../src/alerts/rule.ts'
import { parse } from '../../../src/store/sql.ts'
import { at, evaluatedTarget } from './evaluated-target.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'

/** The rows that are written for these rules, polled each 15 seconds with so many failures in 20 calls; null: too few calls. */
function rowsOf(rules: readonly Rule[], failures: readonly (number | null)[]) {
  const target = evaluatedTarget([...rules])
  for (const [i, failed] of failures.entries()) {
    if (failed === null) target.poll(at(i * 15), 3, 3)
    else target.poll(at(i * 15), failed)
  }
  return target
}

const written = (target: ReturnType<typeof rowsOf>) =>
  target.notifications.map(episodeRow).map(({ data, ...row }) => ({ ...row, ...parse<Episode>(data) }))

describe('the row of an episode', () => {
  test('has from the firing on all of the alert, and where it ends how the value went', () => {
    const rule: Rule = { ...RATIO, match: { mode: 'call' }, runbookUrl: 'https://runbook.test/' }
    const target = rowsOf([rule], [10, 14, 8, 3])
    const same = {
      target: 'production',
      key: 'HighFailureRate',
      since: at(0),
      rule: 'HighFailureRate',
      severity: 'warning',
      labels: {},
      signal: RATIO.signal,
      match: { mode: 'call' },
      breach: 'above',
      threshold: 0.3,
      runbookUrl: 'https://runbook.test/',
    }
    expect(written(target)).toMatchObject([
      { ...same, until: null, value: 0.5, peak: 0.5, values: [], window: { from: at(-900), to: at(0) } },
      {
        ...same,
        until: at(45),
        value: 0.15,
        peak: 0.7,
        values: [
          [at(15), 0.7],
          [at(45), 0.15],
        ],
        outcome: 'resolved',
        // From the first calls that made it fire to the last that ended it.
        window: { from: at(-900), to: at(45) },
      },
    ])
  })

  test.each([
    ['resolved', [10, 14, 8, 3]],
    ['expired', [10, ...Array.from({ length: 2 + 900 / 15 }, () => null)]],
  ])('gives back the whole end of an alert that %s, but for the history of its value', (kind, failures) => {
    const rule: Rule = { ...RATIO, description: 'why', runbookUrl: 'https://runbook.test/' }
    const { episode: _history, window, ...end } = rowsOf([rule], failures).notifications[1]!
    expect(end.kind).toBe(kind)
    // Its window is from the first calls that made it fire.
    const whole = { ...end, ...(window && { window: { ...window, from: at(-900) } }) }
    expect(endOf(episodeRow(rowsOf([rule], failures).notifications[1]!))).toEqual(whole)
  })

  test('is the same one for the end', () => {
    const rows = written(rowsOf([RATIO], [10, 10, 10, 0, 10]))
    expect(rows.map(({ since, until }) => [since, until])).toEqual([
      [at(0), null],
      [at(0), at(45)],
      [at(60), null],
    ])
  })

  test('says why it expired, with null where there were too few calls', () => {
    const polls = 2 + 900 / 15
    const target = rowsOf([RATIO], [10, ...Array.from({ length: polls }, () => null)])
    expect(written(target)[1]).toMatchObject({
      outcome: 'expired',
      expiredBecause: 'too few calls',
      until: at(915),
      peak: 0.5,
    })
    const { values } = written(target)[1]!
    expect(values).toHaveLength(16)
    expect(values[0]).toEqual([at(0), 0.5])
    expect(new Set(values.slice(1).map(([, value]) => value))).toEqual(new Set([null]))
  })

  test('says that the rule was removed', () => {
    const target = rowsOf([RATIO], [10, 12])
    target.reload([POLL_AGE])
    target.tick(at(30), 15)
    expect(written(target)[1]).toMatchObject({
      outcome: 'expired',
      expiredBecause: 'rule removed',
      until: at(30),
      values: [[at(15), 0.6]],
    })
  })

  test('keeps the threshold at which it fired, though the rule was edited since', () => {
    const target = rowsOf([RATIO], [10])
    target.reload([{ ...RATIO, threshold: 0.9, clear: 0.6 }])
    target.restart()
    for (const [i, failed] of [15, 15, 15, 2].entries()) target.poll(at(30 * (i + 1)), failed)
    const rows = written(target)
    expect(rows.map(({ until, threshold }) => [until, threshold])).toEqual([
      [null, 0.3],
      [at(120), 0.3],
    ])
  })

  test('has the rule as it was last evaluated, and values of its signal alone', () => {
    const target = rowsOf([RATIO], [10, 20])
    const calls = ruleOn(
      { name: 'calls_finished', window: 900 },
      { name: RATIO.name, threshold: 5, severity: 'critical' },
    )
    target.reload([calls])
    target.poll(at(60), 2)
    target.reload([POLL_AGE])
    target.tick(at(75), 15)
    expect(written(target).at(-1)).toMatchObject({
      severity: 'critical',
      signal: { name: 'calls_finished' },
      threshold: 5,
      peak: 20,
      values: [[at(60), 20]],
    })
  })
})
