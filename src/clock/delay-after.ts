/**
 * How long to wait after so many failures in a row (seconds): the first delay, then twice as long after each, up to the longest.
 *
 * @param failures at least 1
 */
export const delayAfter = (failures: number, first: number, longest: number) =>
  Math.min(longest, first * 2 ** (failures - 1))
