/*
 * Times that are counted in intervals: a target that is polled rarely is not late for that.
 */

/**
 * Without a successful poll for so many intervals, a target is stale: its time is not covered, its alerts do not come closer to firing,
 * and what the next poll finds is late.
 */
export const STALE_INTERVALS = 3
/** The same for a target of another daemon: if its owner died, it is polled again within the lease and two intervals. */
export const OTHERS_STALE_INTERVALS = 6
/** How many intervals a first poll may take before the target counts as not polled. */
export const FIRST_POLL_INTERVALS = 2
/** How many intervals a poll may take. */
export const DEADLINE_INTERVALS = 4
/** The most intervals between sweeps by which a sweep is postponed if others use up the service's limit. */
export const POSTPONED_INTERVALS = 4
/** After so many intervals without a poll, a tick is kept in the log of evaluations. */
export const UNSEEN_INTERVALS = 2
/** Requests that failed before so many intervals are past. */
export const PAST_FAILURE_INTERVALS = 3
