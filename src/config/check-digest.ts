import { formatDuration } from '../schema/duration-text.ts'
import { isMap, valueAt } from '../schema/path.ts'

/** The digest is of yesterday, and of the same weekday before it, whole days both (seconds). */
const DIGEST_HISTORY_SECONDS = 9 * 86_400

/** The cross-check of what the digest looks back at and of how long finished calls are kept (seconds). */
export function checkDigest(
  notify: unknown,
  history: unknown,
  report: (path: (string | number)[], message: string) => void,
): void {
  if (typeof history !== 'number' || history >= DIGEST_HISTORY_SECONDS || !isMap(valueAt(notify, ['digest']))) return
  report(
    ['store', 'history'],
    `found ${formatDuration(history)}, and \`notify.digest\` compares the day before with the same weekday before it; ` +
      `expected at least ${formatDuration(DIGEST_HISTORY_SECONDS)}`,
  )
}
