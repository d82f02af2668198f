/** How much of everything there is. */
export type Sizes = {
  /** Calls in the list, unless a row has its own number. */
  calls: number
  /** Calls that all change between two polls. */
  busy: number
  /** Polls before the measured ones, so that all code is compiled as it will be, and those that are measured. */
  warmUp: number
  polls: number
  /** Polls that are each followed by a pause, and how long that is (seconds). */
  rested: number
  pause: number
  /** Tracked calls of the rows about memory, restart and growth, and the few that growth compares with. */
  tracked: number
  few: number
  /** Targets of one scrape, and those that one daemon polls. */
  scraped: number
  targets: number
  /** Targets that several daemons share, and those that they share where each is polled less often. */
  shared: number
  sharedAtLeisure: number
  /** Events that are delivered one by one, and those that wait for a receiver that takes none. */
  delivered: number
  backlog: number
  /** Finished calls of which lists and reports are asked for. */
  history: number
  /** Seconds for which many targets are polled. */
  seconds: number
  /** Calls of the first poll after which a program rests, and for how long any rests (seconds). */
  settledCalls: number
  rest: number
  /** Runs of which the median counts. */
  rounds: number
}

/** The table's own sizes. */
export const FULL: Sizes = {
  calls: 100_000,
  busy: 10_000,
  warmUp: 100,
  polls: 300,
  rested: 20,
  pause: 5,
  tracked: 1_000_000,
  few: 10_000,
  scraped: 200,
  targets: 500,
  shared: 2000,
  sharedAtLeisure: 10_000,
  delivered: 20_000,
  backlog: 1_000_000,
  history: 10_000_000,
  seconds: 50,
  settledCalls: 200_000,
  rest: 60,
  rounds: 3,
}

/** For CI: enough to notice what has become several times slower. */
export const SHORT: Sizes = {
  calls: 50_000,
  busy: 5_000,
  warmUp: 60,
  polls: 100,
  rested: 60,
  pause: 0.25,
  tracked: 300_000,
  few: 10_000,
  scraped: 50,
  targets: 100,
  shared: 300,
  sharedAtLeisure: 1500,
  delivered: 5000,
  backlog: 100_000,
  history: 300_000,
  seconds: 20,
  settledCalls: 100_000,
  rest: 8,
  rounds: 3,
}
