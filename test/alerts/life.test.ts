import { describe, test } from 'vitest'
import { expectLife } from './diagram.ts'
import { POLL_AGE, RATIO, ruleOn } from './sample-rules.ts'

// One frame is an interval of 15 s. Breach above 0.3, clear at 0.2. The marbles are explained in diagram.ts.

describe('an alert that must last for four intervals', () => {
  const LASTING = { ...RATIO, for: 60 }

  test('fires when the breach has lasted, not before, and once', () => {
    expectLife(LASTING, {
      seen: '  23455559999',
      state: ' iippppfffff',
      said: '  ------F----',
    })
  })

  test('begins anew after one poll without a breach', () => {
    expectLife(LASTING, {
      seen: '  55535555555',
      state: ' pppippppfff',
      said: '  --------F--',
    })
  })

  test('begins anew after one poll at too few calls for a verdict', () => {
    expectLife(LASTING, {
      seen: '  555x5555555',
      state: ' pppippppfff',
      said: '  --------F--',
    })
  })

  test('is credited the time between looks at most three intervals apart, whether polls failed or nobody asked', () => {
    expectLife(LASTING, {
      seen: '  5--5---55555',
      state: ' p--p---pffff',
      said: '  --------F---',
    })
    expectLife(LASTING, {
      seen: '  5tt5ttt55555',
      state: ' ppppppppffff',
      said: '  --------F---',
    })
  })
})

describe('hysteresis', () => {
  test('resolves at `clear`, and keeps firing between it and the threshold', () => {
    expectLife(RATIO, {
      seen: '  3433332333433210',
      state: ' ifffffiiiifffiii',
      said: '  -F----R---F--R--',
    })
  })

  test('a value that hovers around the threshold is told once', () => {
    expectLife(RATIO, {
      seen: '  3434343434343434',
      state: ' ifffffffffffffff',
      said: '  -F--------------',
    })
  })
})

test('without hysteresis, a value that hovers around the threshold flaps', () => {
  expectLife(
    { ...RATIO, clear: RATIO.threshold },
    {
      seen: '  4343434343',
      state: ' fififififi',
      said: '  FRFRFRFRFR',
    },
  )
})

describe('keep_firing_for of four intervals', () => {
  const KEPT = { ...RATIO, keepFiringFor: 60 }

  test('begins when the value passes `clear`, and anew when it comes back', () => {
    expectLife(KEPT, {
      seen: '  5333222232222225',
      state: ' ffffrrrrfrrrriif',
      said: '  F------------R-F',
    })
  })

  test('a value that hovers around `clear` is told once', () => {
    expectLife(KEPT, {
      seen: '  5232323223223222',
      state: ' frfrfrfrrfrrfrrr',
      said: '  F---------------',
    })
  })

  test('does not pass while nobody looks', () => {
    expectLife(KEPT, {
      seen: '  52tttttttt22222',
      state: ' frrrrrrrrrrrrri',
      said: '  F-------------R',
    })
  })
})

describe('with a window of four intervals, and too few calls in it', () => {
  const BRIEF = { ...RATIO, signal: { ...RATIO.signal, window: 60 } }

  test('a firing alert is kept for one window of polls, then closed; enough calls in between begin a new one', () => {
    expectLife(BRIEF, {
      seen: '  5xxxx5xxxxxx',
      state: ' ffffffffffii',
      said: '  F---------C-',
    })
  })

  test('the time in which nobody looked closes nothing', () => {
    expectLife(BRIEF, {
      seen: '  5xtttttx---------xxxxx',
      state: ' ffffffff---------ffffi',
      said: '  F--------------------C',
    })
  })

  test('a recovering alert is closed as well, and does not resolve', () => {
    expectLife(
      { ...BRIEF, keepFiringFor: 30 },
      {
        seen: '  52xxxxxx5',
        state: ' frrrrriif',
        said: '  F-----C-F',
      },
    )
  })

  test('nothing starts', () => {
    expectLife(BRIEF, {
      seen: '  xxx2xxx',
      state: ' iiiiiii',
      said: '  -------',
    })
  })
})

describe('a reminder every four intervals', () => {
  test('comes at polls, each four intervals after the one before, and never without `repeat`', () => {
    const seen = ' 5555555555555'
    const state = 'fffffffffffff'
    expectLife({ ...RATIO, repeat: 60 }, { seen, state, said: 'F---M---M---M' })
    expectLife(RATIO, { seen, state, said: 'F------------' })
  })

  test('is counted from when the alert fired, and never comes while it is pending', () => {
    expectLife(
      { ...RATIO, for: 75, repeat: 60 },
      {
        seen: '  55555555555',
        state: ' pppppffffff',
        said: '  -----F---M-',
      },
    )
  })

  test('comes at polls, and never while the alert recovers', () => {
    expectLife(
      { ...RATIO, repeat: 60, keepFiringFor: 600 },
      {
        seen: '  5555t5ttt222t225553',
        state: ' fffffffffrrrrrrffff',
        said: '  F----M---------M---',
      },
    )
  })

  test('never comes while the alert recovers and polls fail or see too few calls', () => {
    expectLife(
      { ...RATIO, repeat: 60, keepFiringFor: 600 },
      {
        seen: '  52ttttttttxxxxxxx',
        state: ' frrrrrrrrrrrrrrrr',
        said: '  F----------------',
      },
    )
  })

  test('comes at ticks where there has been no poll for longer than two intervals', () => {
    expectLife(
      { ...RATIO, repeat: 60 },
      {
        seen: '  55ttttttttt5',
        state: ' ffffffffffff',
        said: '  F---M---M---',
      },
    )
  })

  test('comes once after a long absence, and again four intervals later', () => {
    expectLife(
      { ...RATIO, repeat: 60 },
      {
        seen: '  55-----------tttttx',
        state: ' ff-----------ffffff',
        said: '  F------------M---M-',
      },
    )
  })
})

describe('the age of the last good poll', () => {
  const BLIND = { ...POLL_AGE, threshold: 60, clear: 60 }

  test('is evaluated at ticks, and ended by the first successful poll, be it at part of the list', () => {
    expectLife(BLIND, {
      seen: '  5ttttttt5ttttttox',
      state: ' iiiiifffiiiiiffii',
      said: '  -----F--R----F-R-',
    })
  })

  test('must last as any other', () => {
    expectLife(
      { ...BLIND, for: 30 },
      {
        seen: '  5ttttttttt5',
        state: ' iiiiippfffi',
        said: '  -------F--R',
      },
    )
  })

  test('recovers at ticks as well as at polls', () => {
    expectLife(
      { ...BLIND, keepFiringFor: 45 },
      {
        seen: '  5ttttt5tttt',
        state: ' iiiiifrrrii',
        said: '  -----F---R-',
      },
    )
  })
})

describe('fewer than three open calls, clear at five', () => {
  const QUIET = ruleOn({ name: 'in_progress' }, { breach: 'below', threshold: 3, clear: 5, keepFiringFor: 30 })

  test('is the mirror image', () => {
    expectLife(QUIET, {
      seen: '  543221345345556',
      state: ' iiifffffrffrrii',
      said: '  ---F---------R-',
    })
  })

  test('has no verdict where the service did not show all of its list', () => {
    expectLife(QUIET, {
      seen: '  5oo2oooooo5o5oo',
      state: ' iiifffffffrriii',
      said: '  ---F--------R--',
    })
  })
})
