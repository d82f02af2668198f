import type { callView } from './views.ts'

const HEADER =
  'target,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes'

/** Calls as CSV (RFC 4180), with a header line. */
export function callsCsv(calls: readonly ReturnType<typeof callView>[]): string {
  const rows = calls.map((call) => {
    const { target, session_id, type, mode, receiver_type, status, began, finished = '', participants, minutes } = call
    const texts = [target, session_id, type, mode, receiver_type, status, began, finished].map(quote)
    return [...texts, participants, minutes.audio, minutes.video].join(',')
  })
  return [HEADER, ...rows, ''].join('\r\n')
}

/** One field; what a spreadsheet would take for a formula is made a text. */
function quote(text: string): string {
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
