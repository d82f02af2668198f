import type { callView } from './views.ts'

/** The header line of calls as CSV (RFC 4180). */
export const CSV_HEADER =
  'target,session_id,type,mode,receiver_type,status,began,finished,participants,audio_minutes,video_minutes\r\n'

/** A call as a line of CSV. */
export function csvLine(call: ReturnType<typeof callView>): string {
  const { target, session_id, type, mode, receiver_type, status, began, finished = '', participants, minutes } = call
  const texts = [target, session_id, type, mode, receiver_type, status, began, finished].map(quote)
  return `${[...texts, participants, minutes.audio, minutes.video].join(',')}\r\n`
}

/** One field; what a spreadsheet would take for a formula, also after what it skips, is made a text. */
function quote(text: string): string {
  const harmless = /^[=+\-@＝＋－＠\s\p{Cc}\p{Cf}]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
