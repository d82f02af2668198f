import { describe, test } from 'vitest'
import { expectLifecycle } from './diagram.ts'
import { POLL_AGE, RATIO, ruleOn } from '../../kit/alerts/sample-rules.ts'

// One frame is an interval of 15 s. Breach above 0.3, clear at 0.2. The marbles are explained in diagram.ts.

describe('an alert with a `for` of four intervals', () => {
  const LASTING = { ...RATIO, for: 60 }

  test('fires once, when the breach has lasted, and not before', () => {
    expectLifecycle(LASTING, {
      seen: '  23455559999',
      state: ' iippppfffff',
      sent: '  ------F----',
    })
  })

  test('starts again after one poll without a breach', () => {
    expectLifecycle(LASTING, {
      seen: '  55535555555',
      state: ' pppippppfff',
      sent: '  --------F--',
    })
  })

  test('starts again after one poll with too few calls', () => {
    expectLifecycle(LASTING, {
      seen: '  555x5555555',
      state: ' pppippppfff',
      sent: '  --------F--',
    })
  })

  test('counts the time between evaluations at most three intervals apart, with failed polls or without polls', () => {
    expectLifecycle(LASTING, {
      seen: '  55---5--55',
      state: ' pp---p--ff',
      sent: '  --------F-',
    })
    expectLifecycle(LASTING, {
      seen: '  55ttt5tt55',
      state: ' ppppppppff',
      sent: '  --------F-',
    })
  })

  test('counts longer times where polls succeed no more often', () => {
    expectLifecycle(LASTING, {
      seen: '  0ttt5ttt5ttt5',
      state: ' iiiippppppppf',
      sent: '  ------------F',
    })
    expectLifecycle(LASTING, {
      seen: '  0-----5----5----5',
      state: ' i-----p----p----f',
      sent: '  ----------------F',
    })
  })

  test('does not count an outage, nor two in a row, and the second may be longer', () => {
    expectLifecycle(LASTING, {
      seen: '  55-----5--------------5',
      state: ' pp-----p--------------p',
      sent: '  -----------------------',
    })
    expectLifecycle(LASTING, {
      seen: '  00-----5--------------5---5',
      state: ' ii-----p--------------p---f',
      sent: '  --------------------------F',
    })
  })
})

describe('hysteresis of an alert', () => {
  test('resolves the alert at `clear`, and keeps it firing between that and the threshold', () => {
    expectLifecycle(RATIO, {
      seen: '  3433332333433210',
      state: ' ifffffiiiifffiii',
      sent: '  -F----R---F--R--',
    })
  })

  test('notifies once of a value that hovers around the threshold', () => {
    expectLifecycle(RATIO, {
      seen: '  3434343434343434',
      state: ' ifffffffffffffff',
      sent: '  -F--------------',
    })
  })
})

test('an alert without hysteresis flaps while its value hovers around the threshold', () => {
  expectLifecycle(
    { ...RATIO, clear: RATIO.threshold },
    {
      seen: '  4343434343',
      state: ' fififififi',
      sent: '  FRFRFRFRFR',
    },
  )
})

describe('keep_firing_for of four intervals', () => {
  const KEPT = { ...RATIO, keepFiringFor: 60 }

  test('starts when the value passes `clear`, and again when it comes back', () => {
    expectLifecycle(KEPT, {
      seen: '  5333222232222225',
      state: ' ffffrrrrfrrrriif',
      sent: '  F------------R-F',
    })
  })

  test('notifies once of a value that hovers around `clear`', () => {
    expectLifecycle(KEPT, {
      seen: '  5232323223223222',
      state: ' frfrfrfrrfrrfrrr',
      sent: '  F---------------',
    })
  })

  test('does not elapse while no poll succeeds', () => {
    expectLifecycle(KEPT, {
      seen: '  52tttttttt22222',
      state: ' frrrrrrrrrrrrri',
      sent: '  F-------------R',
    })
    expectLifecycle(KEPT, {
      seen: '  555-----2--------------2',
      state: ' fff-----r--------------r',
      sent: '  F-----------------------',
    })
  })
})

describe('an alert whose window of four intervals has too few calls', () => {
  const BRIEF = { ...RATIO, signal: { ...RATIO.signal, window: 60 } }

  test('keeps firing for one window of polls and then expires; enough calls in between restart the window', () => {
    expectLifecycle(BRIEF, {
      seen: '  5xxxx5xxxxxx',
      state: ' ffffffffffii',
      sent: '  F---------X-',
    })
  })

  test('does not expire by time without polls', () => {
    expectLifecycle(BRIEF, {
      seen: '  5xtttttxx---------xxxx',
      state: ' fffffffff---------fffi',
      sent: '  F--------------------X',
    })
    expectLifecycle(BRIEF, {
      seen: '  55x-----x--------------xx',
      state: ' fff-----f--------------ff',
      sent: '  F------------------------',
    })
  })

  test('expires while recovering as well, and does not resolve', () => {
    expectLifecycle(
      { ...BRIEF, keepFiringFor: 30 },
      {
        seen: '  52xxxxxx5',
        state: ' frrrrriif',
        sent: '  F-----X-F',
      },
    )
  })

  test('does not start', () => {
    expectLifecycle(BRIEF, {
      seen: '  xxx2xxx',
      state: ' iiiiiii',
      sent: '  -------',
    })
  })
})

describe('an alert on poll_age', () => {
  const BLIND = { ...POLL_AGE, threshold: 60, clear: 60 }

  test('is evaluated at ticks, and resolves at the first successful poll, also a limited one', () => {
    expectLifecycle(BLIND, {
      seen: '  5ttttttt5ttttttox',
      state: ' iiiiifffiiiiiffii',
      sent: '  -----F--R----F-R-',
    })
  })

  test('waits for `for` like any other', () => {
    expectLifecycle(
      { ...BLIND, for: 30 },
      {
        seen: '  5ttttttttt5',
        state: ' iiiiippfffi',
        sent: '  -------F--R',
      },
    )
  })

  test('recovers at ticks as well as at polls', () => {
    expectLifecycle(
      { ...BLIND, keepFiringFor: 45 },
      {
        seen: '  5ttttt5tttt',
        state: ' iiiiifrrrii',
        sent: '  -----F---R-',
      },
    )
  })
})

describe('an alert below three open calls, clear at five', () => {
  const QUIET = ruleOn({ name: 'in_progress' }, { breach: 'below', threshold: 3, clear: 5, keepFiringFor: 30 })

  test('fires below the threshold and resolves above `clear`', () => {
    expectLifecycle(QUIET, {
      seen: '  543221345345556',
      state: ' iiifffffrffrrii',
      sent: '  ---F---------R-',
    })
  })

  test('is not evaluated after a limited poll', () => {
    expectLifecycle(QUIET, {
      seen: '  5oo2oooooo5o5oo',
      state: ' iiifffffffrriii',
      sent: '  ---F--------R--',
    })
  })
})
