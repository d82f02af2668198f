import { describe, expect, test } from 'vitest'
import type { CallMode } from '../../../src/ledger/call.ts'
import { stepsBetween, type TransitionPoint } from '../../../src/ledger/delta/transitions.ts'

const write = (from: TransitionPoint, to: TransitionPoint, mode: CallMode) =>
  stepsBetween(from, to, mode)
    .map((step) => `${step.from}→${step.to}${step.observed ? '' : '?'}`)
    .join(' ')

// A question mark follows a step that was inferred.
describe('the transitions between two polls', () => {
  test.each<[TransitionPoint, TransitionPoint, CallMode, string]>([
    ['none', 'initiated', 'call', 'none→initiated'],
    ['none', 'ongoing', 'call', 'none→initiated? initiated→ongoing?'],
    ['none', 'ended', 'call', 'none→initiated? initiated→ongoing? ongoing→ended?'],
    ['none', 'rejected', 'call', 'none→initiated? initiated→rejected?'],
    ['none', 'ended', 'other', 'none→initiated? initiated→ongoing? ongoing→ended?'],
    ['none', 'ongoing', 'meet', 'none→ongoing'],
    ['none', 'ended', 'presenter', 'none→ongoing? ongoing→ended?'],
    ['none', 'unanswered', 'meet', 'none→initiated? initiated→unanswered?'],
    ['none', 'other', 'call', 'none→other?'],
    ['initiated', 'ongoing', 'call', 'initiated→ongoing'],
    ['initiated', 'ongoing', 'meet', 'initiated→ongoing'],
    ['initiated', 'ended', 'call', 'initiated→ongoing? ongoing→ended?'],
    ['initiated', 'ended', 'meet', 'initiated→ongoing? ongoing→ended?'],
    ['initiated', 'canceled', 'call', 'initiated→canceled'],
    ['ongoing', 'ended', 'call', 'ongoing→ended'],
    ['ongoing', 'canceled', 'call', 'ongoing→canceled'],
    ['ongoing', 'initiated', 'call', 'ongoing→initiated'],
    ['ended', 'ongoing', 'call', 'ended→ongoing'],
    ['ended', 'initiated', 'meet', 'ended→initiated'],
    ['unanswered', 'ended', 'call', 'unanswered→ended'],
    ['other', 'ended', 'call', 'other→ended'],
    ['initiated', 'other', 'call', 'initiated→other'],
    ['ongoing', 'lost', 'call', 'ongoing→lost'],
    ['lost', 'ended', 'call', 'lost→ended'],
    ['lost', 'ongoing', 'meet', 'lost→ongoing'],
  ])('from %s to %s, mode %s, are %s', (from, to, mode, steps) => {
    expect(write(from, to, mode)).toBe(steps)
  })
})
