import type { LedgerEvent } from '../../../src/simulator/calls/ledger.ts'

export function event(at: number, sessionId: string, status: string, figures: Partial<LedgerEvent> = {}): LedgerEvent {
  return {
    at,
    call: sessionId,
    sessionId,
    event: 'progress',
    type: 'audio',
    mode: 'call',
    receiverType: 'user',
    status,
    initiatedAt: 100,
    callMinutes: { audio: 0, video: 0 },
    participantMinutes: { audio: 0, video: 0 },
    participants: 2,
    recorded: false,
    ...figures,
  }
}

export const answered = [
  event(100.2, 'one', 'initiated'),
  event(104.7, 'one', 'ongoing', { startedAt: 104 }),
  event(110, 'one', 'ongoing', { startedAt: 104, callMinutes: { audio: 0.1, video: 0 } }),
  event(117.5, 'one', 'ended', {
    startedAt: 104,
    endedAt: 117,
    callMinutes: { audio: 0.25, video: 0 },
    participantMinutes: { audio: 0.5, video: 0.125 },
    invited: { joined: 2, absent: 1 },
    recorded: true,
  }),
]
