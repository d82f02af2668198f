import { formatDuration } from '../schema/duration-text.ts'
import { isMap, valueAt } from '../schema/path.ts'

/** How much history a digest needs: yesterday and the same weekday a week earlier, both whole days (seconds). */
const DIGEST_HISTORY_SECONDS = 9 * 86_400

/** Cross-checks how far back the digest reads against how long finished calls are kept (seconds). */
export function checkDigest(
  notify: unknown,
  history: unknown,
  report: (path: (string | number)[], message: string) => void,
): void {
  if (typeof history !== 'number' || history >= DIGEST_HISTORY_SECONDS || !isMap(valueAt(notify, ['digest']))) return
  report(
    ['store', 'history'],
    `found ${formatDuration(history)}, but \`notify.digest\` compares yesterday with the same weekday a week before; ` +
      `expected at least ${formatDuration(DIGEST_HISTORY_SECONDS)}`,
  )
}
